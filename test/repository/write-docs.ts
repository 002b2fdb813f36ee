import { readFileSync, writeFileSync } from 'node:fs'
import { SCHEMA_FILE, schemaWithSettings } from '../../prove/chart/chart.ts'
import { apiTypes } from '../../release/api-types.ts'
import { API_TYPES_FILE } from '../../release/manifest.ts'
import { withParts } from '../../src/cli/docs/generated-parts.ts'
import { ADMINISTRATION_PAGE, administrationPage } from '../http/admin/routes-document.ts'
import { SURFACES } from '../texts/surfaces.ts'
import { COMPARISON, comparisonPage } from './comparison.ts'
import { PAGES_WITH_FIGURES, resultParts, withFigures } from './results.ts'

/** Writes the pages and tables that `npm run docs` generates from the tables of settings and tasks, the schema of the chart's values, and the results of benchmarks; and the texts of pages, mails, events, commands and forms that tests compare. */
writeFileSync(ADMINISTRATION_PAGE, administrationPage())
writeFileSync('docs/comparison.md', comparisonPage(COMPARISON))
writeFileSync(API_TYPES_FILE, apiTypes())
writeFileSync(SCHEMA_FILE, schemaWithSettings())
for (const { page } of resultParts()) writeFileSync(page, withParts(page, resultParts()))
for (const page of PAGES_WITH_FIGURES) writeFileSync(page, withFigures(readFileSync(page, 'utf8')))
for (const [path, text] of Object.entries(SURFACES)) writeFileSync(path, await text())
