import{a,b,c,d,e,f,g,h}from"./chunk-HR777LOY.js";import"./chunk-WOT6VMZA.js";export{b as button,e as changed,f as changes,a as element,d as facts,c as failure,h as menu,g as said};
