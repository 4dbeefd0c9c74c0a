import{b as a}from"./chunk-TUTCGQHB.js";import"./chunk-UK5GLOXQ.js";import"./chunk-LICGZ2VR.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
