import{b as a}from"./chunk-A7P33K3N.js";import"./chunk-VSY6MG6H.js";import"./chunk-LICGZ2VR.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
