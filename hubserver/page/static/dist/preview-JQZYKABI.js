import{a}from"./chunk-BIQYGDZA.js";import"./chunk-AQN7QHTC.js";import"./chunk-U6XENOY2.js";import"./chunk-HR777LOY.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
