import { writeFileSync } from 'node:fs'
import { settingsDocument } from './settings.ts'

/** `npm run docs` */
writeFileSync(new URL('../../docs/configuration.md', import.meta.url), settingsDocument())
