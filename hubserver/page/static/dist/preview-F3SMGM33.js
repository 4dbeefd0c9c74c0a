import{b as a}from"./chunk-A62XUYZV.js";import"./chunk-LBO2APXU.js";import"./chunk-QCCR77WZ.js";export{a as Preview};
