import{a}from"./chunk-E665TJ4S.js";import"./chunk-3L5FIWK4.js";import"./chunk-TERQPUPG.js";import"./chunk-4MN2OA55.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
