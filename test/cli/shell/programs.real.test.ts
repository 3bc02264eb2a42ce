import { programs } from "./programs.suite.js"

programs("synapse shell without a sandbox", false)
programs("synapse shell in a sandbox", true)
