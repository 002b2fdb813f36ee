import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { OrganizationId } from '../../src/protocol/ids.ts'
import { PlainBrowser } from '../../tools/flow.ts'
import { createAccount } from '../support/accounts.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'
import { aMembership, aUser } from '../support/records.ts'
import { addApp } from '../../tools/sign-in/app.ts'
import { deliver, mailedLinkTo, openMailHost } from '../support/hosts/mail-host.ts'
import { beginWindow } from '../support/server.ts'
import { signedInBy } from '../support/sign-in/sessions.ts'
import { perform } from '../support/tasks.ts'

/** The administrator of an organization invites people and helps members, and reaches no other account (threats.md CON-38). */

const MAIL = { GRANTOR_SMTP_URL: 'smtp://127.0.0.1:9', GRANTOR_MAIL_FROM: 'no-reply@acme.test' }

interface Office {
  readonly stage: AdminServer
  readonly own: OrganizationId
  readonly other: OrganizationId
  /** Performs a task with the access `support` to the own organization. */
  readonly order: (task: string, input: object) => ReturnType<AdminServer['performByName']>
}

async function openOffice(t: TestContext): Promise<Office> {
  const stage = await openAdminServer(t, MAIL)
  const [own, other] = [await stage.makeOrganization(), await stage.makeOrganization()]
  const { token } = await stage.issue('support', own)
  return {
    stage,
    own,
    other,
    order: (task, input) => stage.performByName(task, { organization_id: own, ...input }, token),
  }
}

/** What the mails of a user are. */
async function mailsTo({ server: { context } }: AdminServer, email: string): Promise<readonly string[]> {
  const due = await context.store.listDueMails({ now: context.clock(), limit: 100 })
  return due.filter(({ address }) => address === email).map(({ purpose, notice }) => notice ?? purpose)
}

test('a person without an account is invited by a link, and one with an account gets a notice: the answers are alike', async (t) => {
  const { stage, own, other, order } = await openOffice(t)
  const { store } = stage.server.context
  const account = (email: string) =>
    createAccount(stage.server, { email, isVerified: true, password: 'correct horse battery', name: undefined })
  const member = await account('of-another@acme.test')
  await store.addMember({ ...aMembership({ userId: member.id, organizationId: other }), mails: [] })
  await account('used@acme.test')
  const answers = []
  for (const [email, mails] of [
    ['new@acme.test', ['invitation']],
    ['used@acme.test', ['organization-joined']],
    ['of-another@acme.test', ['organization-joined']],
  ] as const) {
    const answer = await order('member.invite', { email, name: 'A Person' })
    assert.equal(answer.statusCode, 200, answer.body)
    answers.push(answer.body.replace(email, '<email>'))
    assert.deepEqual(await mailsTo(stage, email), mails)
    const user = await store.findUserByEmail(email)
    assert.ok(user && (await store.findMembership({ organizationId: own, userId: user.id })), email)
    assert.equal((await order('member.invite', { email })).statusCode, 409, 'a member already')
  }
  assert.equal(new Set(answers).size, 1)
  assert.equal((await store.findUserByEmail('used@acme.test'))?.name, undefined, 'no name of an account changes')
})

test('a person who is invited and removed again and again gets one notice an hour', async (t) => {
  const { stage, own } = await openOffice(t)
  const { token } = await stage.issue('users', own)
  const email = 'used@acme.test'
  const { id: user_id } = await createAccount(stage.server, {
    email,
    isVerified: true,
    password: 'correct horse battery',
    name: undefined,
  })
  for (let time = 0; time < 3; time += 1) {
    const invited = await stage.performByName('member.invite', { organization_id: own, email }, token)
    const removed = await stage.performByName('member.remove', { organization_id: own, user_id }, token)
    assert.deepEqual([invited.statusCode, removed.statusCode], [200, 200])
  }
  assert.deepEqual(await mailsTo(stage, email), ['organization-joined'])
})

test('the mail and the page of an invitation name the organization, and a person who has an account reads so', async (t) => {
  const host = await openMailHost(t)
  const stage = await openAdminServer(t, host.env)
  const { server } = stage
  const order = (task: string, input: object) => perform(server.context, task, { ...input })
  const { organization_id } = await order('organization.create', { name: 'Globex' })
  const used = { email: 'used@acme.test', isVerified: true, password: 'correct horse battery', name: undefined }
  await createAccount(server, used)
  const invite = async (email: string) => {
    await order('member.invite', { organization_id, email })
    await deliver(server)
    const mail = host.mails.find(({ to }) => to.includes(email)) ?? assert.fail(email)
    return `${mail.headers.join('\n')}\n${mail.text}`
  }
  const fresh = await invite('new@acme.test')
  assert.match(fresh, /Subject: Globex invites you to Grantor/)
  const page = await new PlainBrowser(server).get(mailedLinkTo(host, 'new@acme.test'))
  assert.match(page.body, /<bdi>Globex<\/bdi> invites you to/)
  const notice = await invite(used.email)
  assert.match(notice, /Subject: Grantor: Your account was added to Globex[^]*You have an account here already/)
  // An account of several organizations is invited by the server alone.
  const { organization_id: other } = await order('organization.create', { name: 'Initech' })
  const user = await server.context.store.findUserByEmail('new@acme.test')
  await order('member.add', { organization_id: other, user_id: user?.id })
  server.clock.advance(60_001)
  await order('user.send-link', { user_id: user?.id })
  await deliver(server)
  assert.ok(host.mails.at(-1)?.headers.includes('Subject: Set up your account at Grantor'))
})

test('CON-38: an address that may be of another person than the account is not invited, and no other organization is', async (t) => {
  const { stage, other, order } = await openOffice(t)
  const { store, clock } = stage.server.context
  const victim = aUser({ email: 'victim@acme.test', emailVerifiedAt: undefined, firstSignedInAt: clock() })
  await store.createUser(victim)
  const { statusCode } = await order('member.invite', { email: 'victim@acme.test' })
  assert.deepEqual([statusCode, await store.listMemberships(victim.id)], [409, []])
  // What the mail would be refused for makes no account.
  assert.equal((await order('member.invite', { email: 'a..b@acme.test' })).statusCode, 409)
  assert.equal(await store.findUserByEmail('a..b@acme.test'), undefined)
  const elsewhere = await order('member.invite', { organization_id: other, email: 'x@acme.test' })
  assert.equal(elsewhere.statusCode, 404)
  assert.equal(await store.findUserByEmail('x@acme.test'), undefined)
})

test('CON-38: members with a role, or of another organization too, get no help from the administrator of one', async (t) => {
  const { stage, own, other, order } = await openOffice(t)
  const { context } = stage.server
  const alone = await stage.makeUser()
  const [holder, shared, stranger] = [await stage.makeUser(), await stage.makeUser(), await stage.makeUser()]
  for (const [{ id: userId }, organizations] of [
    [alone, [own]],
    [holder, [own]],
    [shared, [own, other]],
  ] as const)
    for (const organizationId of organizations)
      await context.store.addMember({ ...aMembership({ userId, organizationId }), mails: [] })
  await perform(context, 'role.set', { user_id: holder.id, access: 'read' })
  for (const task of ['member.unlock', 'member.end-sessions', 'member.send-link']) {
    assert.equal((await order(task, { user_id: alone.id })).statusCode, 200, task)
    for (const { id } of [holder, shared]) {
      const refused = await order(task, { user_id: id })
      assert.deepEqual(
        [refused.statusCode, /so you cannot change it|does not reach it/.test(refused.body)],
        [409, true],
        task,
      )
    }
    assert.equal((await order(task, { user_id: stranger.id })).statusCode, 404, task)
  }
  assert.deepEqual(await context.store.listLinks(holder.id), [])
  // A refused mail uses none of those that the person may get.
  for (let attempt = 0; attempt < 6; attempt += 1) await order('member.send-link', { user_id: shared.id })
  await perform(context, 'user.send-link', { user_id: shared.id })
})

test('CON-38: a person whose account was in use before becomes a member by an invitation, and gets no help from the administrator', async (t) => {
  const { stage, order } = await openOffice(t)
  const { context } = stage.server
  const { store } = context
  const [email, password] = ['in-use@acme.test', 'correct horse battery']
  const user = await createAccount(stage.server, { email, isVerified: true, password, name: undefined })
  const { id: userId } = user
  await signedInBy(stage.server, user, ['pwd'])
  await addApp(stage.server, email)
  stage.server.clock.advance(1000)
  assert.equal((await order('member.invite', { email })).statusCode, 200)
  const before = await store.findUser(userId)
  for (const task of ['member.unlock', 'member.end-sessions', 'member.send-link', 'member.reset-second-factor']) {
    const refused = await order(task, { user_id: userId })
    assert.deepEqual(
      [refused.statusCode, /so you cannot change it/.test(refused.body)],
      [409, true],
      task + refused.body,
    )
  }
  assert.notEqual(await store.findSecondFactor(userId), undefined)
  assert.deepEqual([await store.findUser(userId), await store.listLinks(userId)], [before, []])
})

test('CON-38: the answer to an invitation does not say that an account has a role, or is in a protected group', async (t) => {
  const { stage, order } = await openOffice(t)
  const holder = await stage.makeUser()
  await perform(stage.server.context, 'role.set', { user_id: holder.id, access: 'read' })
  const member = await stage.makeUser()
  await perform(stage.server.context, 'group.create', { group_id: 'cluster-admins', protected: true })
  await perform(stage.server.context, 'group.add-member', { group_id: 'cluster-admins', user_id: member.id })
  for (const { id: userId, email } of [holder, member]) {
    const refused = await order('member.invite', { email })
    assert.deepEqual([refused.statusCode, /role|console|group/.test(refused.body)], [409, false], refused.body)
    assert.deepEqual(await stage.server.context.store.listMemberships(userId), [])
  }
})

test('an organization invites at most 200 people in an hour', async (t) => {
  const { stage, order } = await openOffice(t)
  beginWindow(stage.server, 60 * 60 * 1000)
  const statuses = []
  for (let number = 0; number < 201; number += 1)
    statuses.push((await order('member.invite', { email: `person.${number}@acme.test` })).statusCode)
  assert.deepEqual(statuses, [...Array.from({ length: 200 }, () => 200), 409])
  stage.server.clock.advance(60 * 60 * 1000)
  assert.equal((await order('member.invite', { email: 'later@acme.test' })).statusCode, 200)
})

test('CON-38: the access support chooses no password, and proves no address and no phone number', async (t) => {
  const { stage } = await openOffice(t)
  const { token } = await stage.issue('support')
  for (const more of [
    { password: 'correct horse battery staple' },
    { email_verified: true },
    { profile: { phone_number: '+49 30 1', phone_number_verified: true } },
  ]) {
    const refused = await stage.performByName('user.create', { email: stage.anEmail(), ...more }, token)
    assert.equal(refused.statusCode, 409, JSON.stringify(more))
  }
  const profile = { phone_number: '+49 30 1' }
  assert.equal((await stage.performByName('user.create', { email: stage.anEmail(), profile }, token)).statusCode, 201)
})
