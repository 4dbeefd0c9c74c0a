import{a}from"./chunk-CIHH5KFL.js";import"./chunk-6LV2HMR6.js";import"./chunk-TERQPUPG.js";import"./chunk-4MN2OA55.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
