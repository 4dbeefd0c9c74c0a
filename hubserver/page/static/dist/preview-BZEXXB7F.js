import{a}from"./chunk-Q3DWEPEI.js";import"./chunk-JAKWJIT3.js";import"./chunk-U6XENOY2.js";import"./chunk-HR777LOY.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
