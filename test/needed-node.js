// Plain old syntax on purpose: this file must run on any Node.
import { existsSync } from 'node:fs'
import { isNewEnough, NEEDED_NODE } from '../bin/this-node.js'

/** Ends the process with a message, before an older Node fails on the first TypeScript file. */
if (!isNewEnough) {
  const installed = existsSync(new URL('../node_modules/.bin/node', import.meta.url))
  console.error(
    'The tests need Node.js ' +
      NEEDED_NODE +
      ', and this is ' +
      process.version +
      '. ' +
      (installed
        ? 'Run them with "npm test", or one file with "npx node --test <file>".'
        : 'Run "npm install": that brings one.'),
  )
  process.exit(1)
}
