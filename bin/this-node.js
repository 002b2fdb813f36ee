// Plain old syntax on purpose: this file must run on any Node.
import { fileURLToPath } from 'node:url'

export const NEEDED_MAJOR = 26
export const isNewEnough = Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR

/** Node does not read TypeScript below node_modules, where a package manager puts this package. */
export const isInstalled = /[\\/]node_modules[\\/]/.test(fileURLToPath(import.meta.url))
