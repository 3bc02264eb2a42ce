import { explained } from "./explained.suite.js"

explained("synapse sandbox explain")
