import{a}from"./chunk-6QSEMOYG.js";import"./chunk-IYFRLPJQ.js";import"./chunk-SDKOSTIK.js";import"./chunk-4MN2OA55.js";export{a as Preview};
