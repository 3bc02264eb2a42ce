import { describe } from "@effect/vitest"
import * as Ground from "../../support/escape/Ground.js"
import { commands } from "./commands.suite.js"

const ground = Ground.take("root")

describe.skipIf(ground === undefined)("the corpus of commands, as root", () => {
  commands("in one sandbox", ground ?? "", 0)
})
