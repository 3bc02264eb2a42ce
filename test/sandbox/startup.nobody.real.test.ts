import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { guard } from "./startup.suite.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined || !Ground.has("git"))("the sandbox of an ordinary user", () => {
  guard("and what a user's tools run later", ground ?? "", Ground.isSecond())
})
