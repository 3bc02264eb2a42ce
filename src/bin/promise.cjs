"use strict"
// What `require("synapse-shell/promise")` starts.
module.exports = require("./loader.cjs").load("%PROMISE%", "promise")
