import{b as a}from"./chunk-ZC3HIBGF.js";import"./chunk-FK3SNVPI.js";import"./chunk-I5RP7KZE.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
