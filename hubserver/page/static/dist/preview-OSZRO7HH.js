import{a}from"./chunk-3ZZEOH2J.js";import"./chunk-PUTBL3WT.js";import"./chunk-7HWIKRZJ.js";import"./chunk-36KFNY6J.js";export{a as Preview};
