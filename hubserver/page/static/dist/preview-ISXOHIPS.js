import{b as a}from"./chunk-H4Y7EESS.js";import"./chunk-7BZTFJEZ.js";import"./chunk-Y5532BZU.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
