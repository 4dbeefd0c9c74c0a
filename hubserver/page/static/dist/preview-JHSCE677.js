import{a}from"./chunk-2CA5XP7Z.js";import"./chunk-CNR7GY4S.js";import"./chunk-TERQPUPG.js";import"./chunk-5UI4ULNB.js";import"./chunk-WOT6VMZA.js";export{a as Preview};
