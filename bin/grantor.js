#!/usr/bin/env node
// Plain old syntax on purpose: this file must run on any Node, to say which one is needed or to start it.
'use strict'
import { fileURLToPath } from 'node:url'
import { isInstalled, isNewEnough, NEEDED_MAJOR } from './this-node.js'

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))

if (isNewEnough && !isInstalled) {
  const { keepCompiled } = await import('./compile-cache.js')
  keepCompiled()
  const { runMain } = await import(main)
  await runMain()
} else {
  const { findBundledNode, runOn } = await import('./other-node.js')
  const node = isNewEnough ? process.execPath : findBundledNode()
  if (node === undefined) {
    console.error(
      'Grantor needs Node.js ' +
        NEEDED_MAJOR +
        ' or newer; this is ' +
        process.version +
        '. Run "npm install" in its folder: that brings one.',
    )
    process.exit(1)
  }
  const hook = new URL('./read-typescript.js', import.meta.url).href
  const flags = isInstalled ? ['--disable-warning=ExperimentalWarning', '--import', hook] : []
  runOn(node, flags.concat(isInstalled ? main : fileURLToPath(import.meta.url), process.argv.slice(2)))
}
