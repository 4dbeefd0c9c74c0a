import{a}from"./chunk-5U2EG6GX.js";import"./chunk-IYFRLPJQ.js";import"./chunk-SDKOSTIK.js";import"./chunk-36KFNY6J.js";export{a as Preview};
