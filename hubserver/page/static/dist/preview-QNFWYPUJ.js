import{a}from"./chunk-JKUP6VM6.js";import"./chunk-6LV2HMR6.js";import"./chunk-TERQPUPG.js";import"./chunk-5UI4ULNB.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
