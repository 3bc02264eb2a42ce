import { describe } from "@effect/vitest"
import * as Ground from "../../support/escape/Ground.js"
import { programs } from "./programs.suite.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined || !Ground.seesCheckout())("as an ordinary user", () => {
  programs("synapse shell in a sandbox", true, Ground.isSecond())
})
