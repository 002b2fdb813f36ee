import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAda } from '../test/support/flow.ts'
import { freePort } from '../test/support/free-port.ts'
import { openTestServer } from '../test/support/server.ts'
import { askResourceServer, type Answer } from './ask-resource-server.ts'
import { openMinimalServer, proveClients } from './mcp-clients.ts'
import { declareNotes } from './notes-api.ts'
import { prepareFolder, startRecipe } from './recipe-programs.ts'
import { expectedAnswer, RECIPES, type Recipe } from './recipes.ts'
import { describeMachine, stopOnSignal } from './run.ts'
import { mintCases, type Flaw } from './token-cases.ts'

/** `npm run prove:resource-servers`. See docs/resource-servers.md. */

const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, folder: { type: 'string' } } })
const OTHER_RESOURCE = 'https://other.example'

stopOnSignal()
const root = values.folder ?? mkdtempSync(join(tmpdir(), 'grantor-recipes-'))
const endings: (() => unknown)[] = []
const server = await openTestServer({ after: (end) => void endings.push(end as () => unknown) }, { listen: true })
const upstream = createServer((_request, response) => response.end('{"notes":7}')).listen(0, '127.0.0.1')
const violations: string[] = []
try {
  await createAda(server)
  await declareNotes(server, OTHER_RESOURCE, 'at+jwt')
  await declareNotes(server, 'https://third.example', 'at+jwt')
  for (const recipe of RECIPES.filter(({ name }) => name.toLowerCase().includes(values.only.toLowerCase()))) {
    await prove(recipe).catch((cause: unknown) => report(recipe.name, String(cause)))
  }
  if ('clients'.includes(values.only)) {
    await proveClients(server, root, await openMinimalServer(server, (end) => void endings.push(end)), report)
  }
} finally {
  upstream.close()
  for (const end of endings) await end()
  if (values.folder === undefined) rmSync(root, { recursive: true, force: true })
}
console.log(describeMachine())
console.log(`violations: ${violations.length}`)
process.exitCode = violations.length === 0 ? 0 : 1

async function prove(recipe: Recipe): Promise<void> {
  const folder = await prepareFolder(recipe, root)
  const port = await freePort()
  const resource = `http://localhost:${port}${recipe.path}`
  const { id, secret } = await declareNotes(server, resource, recipe.jwtType)
  const running = await startRecipe(recipe, folder, {
    ISSUER: server.origin,
    RESOURCE: resource,
    MCP_PORT: String(port),
    API_ID: id,
    API_SECRET: secret,
    UPSTREAM: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
  })
  try {
    const { tokens, revoke } = await mintCases(server, {
      resource,
      jwtType: recipe.jwtType,
      otherResource: OTHER_RESOURCE,
    })
    const answers: { readonly flaw: Flaw; readonly answer: Answer }[] = []
    // A cached introspection response must not be used after the revocation.
    const before = await askResourceServer(recipe, resource, tokens.revoked)
    if (before !== 'served') report(recipe.name, `a token that is not revoked yet is answered by ${before}`)
    await revoke()
    for (const [flaw, token] of Object.entries(tokens) as [Flaw, string | undefined][]) {
      const answer = await askResourceServer(recipe, resource, token)
      answers.push({ flaw, answer })
      const expected = expectedAnswer(recipe, flaw)
      if (answer !== expected) report(recipe.name, `${flaw} is answered by ${answer} instead of ${expected}`)
    }
    const byAnswer = Map.groupBy(answers, ({ answer }) => answer)
    const said = [...byAnswer].map(([answer, some]) => `${answer}: ${some.map(({ flaw }) => flaw).join(', ')}`)
    console.log(`${recipe.name} (${await recipe.version(folder)})\n  ${said.join('\n  ')}`)
    if (recipe.path === '/mcp' && recipe.way === 'introspection')
      await proveClients(server, root, { name: recipe.name, url: resource, lastScope: undefined }, report)
    if (values.only !== '' && violations.length > 0) console.error(running.output().slice(-4000))
  } finally {
    await running.stop()
  }
}

function report(name: string, what: string): void {
  violations.push(`${name}: ${what}`)
  console.error(`VIOLATION ${name}: ${what}`)
}
