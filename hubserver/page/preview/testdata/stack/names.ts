/** words splits a name at its capital letters and at everything that is no letter or digit. */
export const words = (s: string): string[] => s.replace(/([a-z0-9])([A-Z])/g, '$1 $2').split(/[^A-Za-z0-9]+/).filter(Boolean)

/** pascal joins the words of a name, each with a capital letter. */
export const pascal = (s: string): string => words(s).map(w => w[0]!.toUpperCase() + w.slice(1)).join('')
