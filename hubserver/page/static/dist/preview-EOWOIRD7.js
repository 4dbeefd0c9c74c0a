import{a}from"./chunk-M3ZD7A3H.js";import"./chunk-EE3JFVB4.js";import"./chunk-7HWIKRZJ.js";import"./chunk-36KFNY6J.js";export{a as Preview};
