import{a}from"./chunk-4KPL4OUS.js";import"./chunk-CNR7GY4S.js";import"./chunk-TERQPUPG.js";import"./chunk-HR777LOY.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
