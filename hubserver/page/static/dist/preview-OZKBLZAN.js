import{a}from"./chunk-3QGG6RHJ.js";import"./chunk-IYFRLPJQ.js";import"./chunk-SDKOSTIK.js";import"./chunk-36KFNY6J.js";export{a as Preview};
