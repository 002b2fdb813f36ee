import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readOptions, string, whole } from '../../tools/options.ts'
import { stopChildren } from '../../tools/process/children.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { startWorker } from '../../tools/process/worker.ts'
import { openFindings, printReport } from '../findings.ts'
import { compareAnswers, hasToken, type Answer } from './compare.ts'
import type { RECORDER } from './load.ts'

/** The answers of two checkouts to the same requests, at the same times and with the same random bytes. See docs/proofs.md. */

/** How many answers are printed that differ. The first is the cause of most others, because later requests have what it said. */
const PRINTED = 10

const { with: folder = '', requests } = readOptions(
  {
    with: string('folder', 'the other checkout, with its packages'),
    requests: whole('requests at the least', 400, [1, 100_000]),
  },
  ({ with: other = '.' }) =>
    resolve(other) !== resolve('.') &&
    ['src/server/server.ts', 'node_modules'].every((path) => existsSync(join(other, path)))
      ? undefined
      : '--with takes the folder of another checkout, in which "npm ci" has run.',
)
beginSession()
const findings = openFindings()
const [others, own] = [await record(resolve(folder)), await record(resolve('.'))]
await stopChildren()
const compared = compareAnswers(others, own)
const differing = compared.filter(({ kind }) => kind === 'different')
for (const { line } of differing.slice(0, PRINTED)) findings.report(line)
if (differing.length > PRINTED) findings.report(`${differing.length - PRINTED} more answers differ`)
if (!own.some(hasToken)) findings.report('the requests got no token')
const texts = compared.filter(({ kind }) => kind === 'text')
const count = (wanted: string): number => compared.filter(({ kind }) => kind === wanted).length
const statuses = [...Map.groupBy(own, ({ status }) => status)].toSorted(([one], [other]) => one - other)
printReport(
  `${compared.length} answers of two checkouts`,
  [
    `statuses: ${statuses.map(([status, answers]) => `${answers.length} of ${status}`).join(', ')}`,
    `equal but for signatures, kid and at_hash: ${count('equal')}`,
    `pages that differ in the style sheet and white space only: ${count('appearance')}`,
    `pages with another text: ${texts.length}`,
    ...texts.slice(0, PRINTED).map(({ line }) => `  ${line}`),
    `with another status, header or member: ${differing.length}`,
  ],
  findings,
)

async function record(checkout: string): Promise<readonly Answer[]> {
  findings.progress(`requests to ${checkout}`)
  const worker = await startWorker<typeof RECORDER>(new URL('./load.ts', import.meta.url), undefined)
  return worker.call('record', { checkout, requests, folder: openFolder() })
}
