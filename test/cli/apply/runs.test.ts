import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppliedSetDocument } from '../../../src/admin/apply.ts'
import { readFiles } from '../../../src/cli/apply/document.ts'
import { makePlan, type Plan } from '../../../src/cli/apply/plan.ts'
import { runPlan } from '../../../src/cli/apply/run.ts'
import { performOn } from '../../../src/cli/lib/perform-task.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { command, commandJson, openServerForCommands } from '../../support/command.ts'
import type { Members } from '../../support/tasks.ts'
import { openFiles } from './files.ts'

/** Runs that stop, and runs beside other administrators. */

const server = await openServerForCommands(WHOLE_FILE)
const { apply, applied, writeSet } = openFiles(server)
const perform = performOn(server.context)

async function planOf(path: string): Promise<Plan> {
  const files = await readFiles([path], { variable: () => undefined }, 'read')
  return makePlan(files, perform, { prune: false })
}

async function setOf(set: string): Promise<AppliedSetDocument | undefined> {
  const { sets } = await perform<{ readonly sets: readonly AppliedSetDocument[] }>('apply.list', {})
  return sets.find((one) => one.set === set)
}

async function recordsOf(set: string): Promise<readonly string[]> {
  return ((await setOf(set))?.records ?? []).map(({ kind, key }) => `${kind} ${key}`)
}

test('APL-04: of two runs of one set at once, one gets a conflict, and the records are those of the other one', async () => {
  const clients = (name: string) =>
    [1, 2, 3].map((index) => ({
      client_id: `raced-${index}`,
      client_name: name,
      redirect_uris: [`https://${name}.acme.test/`],
    }))
  for (const [one, other] of [
    ['red', 'blue'],
    ['green', 'white'],
  ] as const) {
    const paths = [one, other].map((name) => writeSet({ clients: clients(name) }, 'raced'))
    const plans = await Promise.all(paths.map(planOf))
    const reports = await Promise.all(plans.map((plan) => runPlan(plan, perform)))
    const won = reports.findIndex(({ failure }) => failure === undefined)
    const lost = reports[1 - won]
    assert.match(String(lost?.failure), /Another run appli/)
    assert.equal(lost?.done.length, 0)
    assert.match((await apply(['-f', paths[won] ?? '', '--plan'])).stdout, /Nothing differs/)
  }
  await applied(writeSet({}, 'raced'), '--prune')
})

test('APL-03: a record that another administrator creates during a run is not of the set, and --prune leaves it', async () => {
  const path = writeSet({ clients: ['before', 'between'].map((id) => ({ client_id: id, client_name: id })) }, 'between')
  const plan = await planOf(path)
  const { failure } = await runPlan(plan, async <Answer>(name: string, input: Members) => {
    if (input['client_id'] === 'between') await perform(name, { ...input, client_name: 'Theirs' })
    return perform<Answer>(name, input)
  })
  assert.match(String(failure), /The client between: /)
  assert.deepEqual(await recordsOf('between'), ['client before'])
  await applied(writeSet({}, 'between'), '--prune')
  assert.equal((await command(['client', 'show', 'before'])).code, 1)
  assert.equal((await commandJson<Members>(['client', 'show', 'between']))['client_name'], 'Theirs')
})

test('APL-03: a record that was deleted and created again by hand is another one: --prune leaves it, and a file takes it again', async () => {
  const records = {
    organizations: [{ organization_id: 'again', name: 'Again' }],
    apis: [{ resource: 'https://again.test', name: 'Again' }],
  }
  const [whole, empty] = [writeSet(records, 'again'), writeSet({}, 'again')]
  const createAgain = async () => {
    await perform('organization.delete', { organization_id: 'again' })
    await perform('api.delete', { resource: 'https://again.test' })
    await perform('organization.create', { organization_id: 'again', name: 'Theirs' })
    await perform('api.create', { resource: 'https://again.test', name: 'Again' })
  }
  await applied(whole)
  await createAgain()
  assert.match(
    await applied(empty, '--prune'),
    /^= api https:\/\/again\.test \(no longer belongs to the set\)\n= organization again \(no longer belongs to the set\)\n/,
  )
  assert.equal((await perform<Members>('organization.show', { organization_id: 'again' }))['name'], 'Theirs')
  await applied(whole)
  await createAgain()
  assert.match(
    await applied(whole),
    /~ organization again\n[^]*= api https:\/\/again\.test \(belongs to the set from now on\)/,
  )
  assert.match((await apply(['-f', whole, '--plan'])).stdout, /Nothing differs/)
  await applied(empty, '--prune')
  assert.equal((await command(['org', 'show', 'again'])).code, 1)
  assert.equal((await command(['api', 'show', 'https://again.test'])).code, 1)
})

test('APL-03: a domain that another administrator blocks after the plan stays blocked', async () => {
  const describing = (...trusted: readonly unknown[]) => writeSet({ domains: { trusted } }, 'blocked')
  const ruleOf = async (pattern: string) => {
    const { domains } = await perform<{ readonly domains: readonly Members[] }>('domain.list', {})
    return domains.filter((rule) => rule['pattern'] === pattern).map(({ verdict, note }) => [verdict, note])
  }
  await applied(describing('noted.example', 'left.example'))
  const paths = {
    'new.example': describing('new.example', 'noted.example', 'left.example'),
    'noted.example': describing({ pattern: 'noted.example', note: 'Ours' }, 'left.example'),
    'left.example': describing('noted.example'),
  }
  for (const [pattern, path] of Object.entries(paths)) {
    const files = await readFiles([path], { variable: () => undefined }, 'read')
    const plan = await makePlan(files, perform, { prune: pattern === 'left.example' })
    assert.equal(plan.changes.length, 1, pattern)
    // At the last moment, before the task of the run.
    let isBlocked = false
    const { failure } = await runPlan(plan, async <Answer>(name: string, input: Members) => {
      if (name.startsWith('domain.') && !isBlocked) await perform('domain.block', { pattern, note: 'Phishing' })
      isBlocked ||= name.startsWith('domain.')
      return perform<Answer>(name, input)
    })
    assert.match(String(failure), new RegExp(`The domain ${pattern}: The rule for ${pattern} was changed meanwhile\\.`))
    assert.deepEqual(await ruleOf(pattern), [['blocked', 'Phishing']], pattern)
    if (pattern === 'new.example') assert.ok(!(await recordsOf('blocked')).includes(`domain ${pattern}`))
    await perform('domain.trust', { pattern })
  }
  await applied(writeSet({}, 'blocked'), '--prune')
  await perform('domain.forget', { pattern: 'new.example' })
})

test('APL-04: a run that is killed after it created a record loses nothing: the next one takes the record and continues', async () => {
  const clients = ['a', 'b', 'c'].map((id) => ({ client_id: `crash-${id}`, client_name: id }))
  const path = writeSet({ clients }, 'crash')
  const plan = await planOf(path)
  let isKilled = false
  await runPlan(plan, async <Answer>(name: string, input: Members) => {
    if (isKilled) throw new Error('killed')
    const answer = await perform<Answer>(name, input)
    isKilled = name === 'client.create' && input['client_id'] === 'crash-b'
    return answer
  })
  assert.deepEqual(await recordsOf('crash'), ['client crash-a'])
  await perform('apply.record', { set: 'crash', step: 'finish', mark: (await setOf('crash'))?.mark })
  assert.match(
    await applied(path),
    /^= client crash-b \(belongs to the set from now on\)\n\+ client crash-c\n[^]*Made 2 of 2 changes/,
  )
  assert.deepEqual((await recordsOf('crash')).toSorted(), ['client crash-a', 'client crash-b', 'client crash-c'])
  await applied(writeSet({}, 'crash'), '--prune')
})

test('APL-04: while a run is active another one is refused, and after a run that was killed in two minutes', async () => {
  await commandJson(['client', 'create', '--name', 'Other', '--redirect-uri', 'https://x.example/'])
  const { mark } = await perform<{ readonly mark: string }>('apply.record', {
    set: 'killed',
    step: 'begin',
    mark: null,
  })
  const path = writeSet({ organizations: [{ organization_id: 'killed', name: 'Killed' }] }, 'killed')
  const refused = await apply(['-f', path, '--yes'])
  assert.equal(refused.code, 1)
  assert.match(
    refused.stderr,
    /Another run applies the set killed\. Nothing was changed\. If it was stopped, try again in 1\d\d seconds\./,
  )
  await perform('apply.record', { set: 'killed', step: 'finish', mark })
  await assert.rejects(
    perform('apply.record', { set: 'killed', step: 'continue', mark }),
    /Another run applied the set killed/,
  )
  await applied(path)
  await applied(writeSet({}, 'killed'), '--prune')
})
