"use strict"
// The entry of `require("synapse-shell/promise")`.
module.exports = require("./loader.cjs").load("%PROMISE%", "promise")
