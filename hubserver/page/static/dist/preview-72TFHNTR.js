import{b as a}from"./chunk-N4XOEANP.js";import"./chunk-PIRMM2BC.js";import"./chunk-I5RP7KZE.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
