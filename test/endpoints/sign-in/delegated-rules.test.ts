import assert from 'node:assert/strict'
import { test } from 'node:test'
import { locationOf, redeem } from '../../../tools/flow.ts'
import { APPLICATION_URL, openApplication, startAtClient } from '../../support/application.ts'
import { declareApi, knowApis } from '../../support/apis.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { lastLogged } from '../../support/error-answer.ts'
import { openTestServer } from '../../support/server.ts'
import { selectAll } from '../../support/store/dump.ts'
import { perform, type Members } from '../../support/tasks.ts'
import { pageSays } from '../../texts/page-texts.ts'

/** Access rules where the operator's application signs people in and asks them for consent. */

const server = await openTestServer(WHOLE_FILE, { env: { GRANTOR_DELEGATE_URL: APPLICATION_URL } })
const { context } = server
const application = await openApplication(server)
const API = 'https://pay.example'
const sentence = 'Pay'
await declareApi(server, API, {}, [
  { name: 'read', sentence, grantedTo: 'users' },
  { name: 'pay', sentence, grantedTo: 'users' },
])
await perform(context, 'group.create', { group_id: 'finance' })

async function withRule(rule: Members, work: () => Promise<void>): Promise<void> {
  await perform(context, 'access-rule.create', { rule_id: 'r', sentence: 'Only Finance', ...rule })
  knowApis(server)
  await work()
  await perform(context, 'access-rule.delete', { rule_id: 'r' })
  knowApis(server)
}

const PAY = { scopes: [`${API}=pay`], except_groups: ['finance'] }
const start = (scope = 'read pay') => startAtClient(server, { scope, resource: API })
const withheldOf = async (interaction: string, subject?: string) =>
  (await application.show(interaction, subject)).json<{ withheld: unknown }>().withheld

test('ACS-04: the application reads what is left out for its person, with the rule and the sentence, and accept is narrowed', async () => {
  await withRule(PAY, async () => {
    const { browser, client, interaction } = await start()
    const left = [{ scope: 'pay', rule: 'r', sentence: 'Only Finance' }]
    assert.deepEqual(await withheldOf(interaction, 'new-person'), left)
    assert.equal(await withheldOf(interaction), null, 'It is not said who the person is.')
    const wider = await application.accept(interaction, { subject: 'new-person', scope: 'read pay other' })
    assert.equal(wider.json<{ detail: { type: string }[] }>().detail[0]?.type, 'scope_wider')
    const back = await browser.get(await application.signIn(interaction, { subject: 'new-person', scope: 'read pay' }))
    const tokens = await redeem(server, client, new URL(locationOf(back)).searchParams.get('code') ?? '')
    assert.equal(tokens.json<{ scope: string }>().scope, 'read')
    // What the application says of groups counts for the same answer.
    const inside = await start()
    const groups = { subject: 'new-person', groups: ['finance'] }
    const home = await inside.browser.get(await application.signIn(inside.interaction, groups))
    const whole = await redeem(server, inside.client, new URL(locationOf(home)).searchParams.get('code') ?? '')
    assert.equal(whole.json<{ scope: string }>().scope, 'read pay')
    assert.deepEqual(await withheldOf((await start()).interaction, 'new-person'), [])
  })
})

test('ACS-04: where nothing is left after the page of the application, the client gets access_denied, and with ask a page says why', async () => {
  const refused = async (answer: Members, clientId: string) => {
    const started = await startAtClient(server, { scope: 'pay', resource: API, client_id: clientId })
    const { browser, interaction } = started
    return { browser, back: await browser.get(await application.signIn(interaction, answer)) }
  }
  // Created by the operator, so that errors are redirected.
  const own = await perform<{ client_id: string }>(context, 'client.create', {
    client_name: 'Board',
    redirect_uris: ['https://app.example/callback'],
  })
  await withRule(PAY, async () => {
    const { interaction } = await start('pay')
    assert.deepEqual(await withheldOf(interaction, 'outside'), [{ scope: 'pay', rule: 'r', sentence: 'Only Finance' }])
    const { back } = await refused({ subject: 'outside' }, own.client_id)
    assert.match(locationOf(back), /^https:\/\/app\.example\/callback\?error=access_denied/)
    assert.equal(lastLogged(server)['reason'], 'access_rule')
    assert.equal(selectAll(server, 'select * from grants where client_id = ?', own.client_id).length, 0)
    const asked = await refused({ subject: 'outside', decision: 'ask' }, own.client_id)
    const page = await asked.browser.get(locationOf(asked.back))
    assert.match(page.body, pageSays('notAllowedText'))
    assert.match(page.body, /Only Finance/)
    assert.match(locationOf(await asked.browser.submit(page, { decision: 'deny' })), /error=access_denied/)
  })
  await withRule({ apis: [API], sentence: 'Closed', except_groups: ['finance'] }, async () => {
    await declareApi(server, 'https://bare.example', {}, [])
    await perform(context, 'access-rule.update', { rule_id: 'r', apis: ['https://bare.example'] })
    knowApis(server)
    const { interaction } = await startAtClient(server, { scope: '', resource: 'https://bare.example' })
    assert.deepEqual(await withheldOf(interaction, 'outside'), [{ scope: null, rule: 'r', sentence: 'Closed' }])
  })
})
