import{a}from"./chunk-EFSHABWY.js";import"./chunk-IFMF7E34.js";import"./chunk-MTT4SCCX.js";import"./chunk-HR777LOY.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
