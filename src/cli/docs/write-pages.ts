import { writeFileSync } from 'node:fs'
import { commandsDocument } from './commands-document.ts'
import { generatedParts, withParts } from './generated-parts.ts'
import { createProgram } from '../program.ts'
import { maximaDocument } from './maxima.ts'
import { settingsDocument } from './settings.ts'
import { openTerminal } from '../lib/terminal.ts'

/** `npm run docs` */
writeFileSync(new URL('../../../docs/configuration.md', import.meta.url), settingsDocument())
writeFileSync(new URL('../../../docs/maxima.md', import.meta.url), maximaDocument())
writeFileSync(
  new URL('../../../docs/commands.md', import.meta.url),
  commandsDocument(await createProgram(openTerminal(process, {}, 'grantor'), () => true)),
)
const parts = generatedParts()
for (const page of new Set(parts.map((part) => part.page))) writeFileSync(page, withParts(page, parts))
