/**
 * The version of this package; a test holds it equal to that of package.json.
 *
 * @since 0.1.0
 */
export const current = "0.1.0"
