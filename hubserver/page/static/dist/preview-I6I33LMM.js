import{a}from"./chunk-ZVIRQCAV.js";import"./chunk-DHAEUWBE.js";import"./chunk-MTT4SCCX.js";import"./chunk-HR777LOY.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
