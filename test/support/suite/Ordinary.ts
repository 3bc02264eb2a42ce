/**
 * Loads what files of an ordinary user's tests share before the first of them makes root's process that user's, who may
 * not come as far as the checkout.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"

if (process.getuid?.() === 0) {
  // Loaded by its first use otherwise.
  await import("@xterm/headless")
  for (const file of Fs.readdirSync("test", { recursive: true, encoding: "utf8" })) {
    if (/\.suite\.ts$|^escape\/[a-zA-Z]+\.ts$/.test(file)) await import(Path.resolve("test", file))
  }
}
