import { describe } from "@effect/vitest"
import * as Ground from "../../support/escape/Ground.js"
import { commands } from "./commands.suite.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("the corpus of commands, as an ordinary user", () => {
  commands("in one sandbox", ground ?? "", Ground.isSecond() ? 1 : undefined)
})
