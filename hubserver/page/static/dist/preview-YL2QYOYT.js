import{b as a}from"./chunk-JGRD5I5H.js";import"./chunk-Y75BPW5G.js";import"./chunk-LICGZ2VR.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
