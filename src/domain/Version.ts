/** The version of this package; a test holds it equal to that of package.json. */
export const current = "0.1.0"
