import { mount } from "./app";

mount(document.body);
