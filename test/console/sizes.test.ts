import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleAssets } from '../../src/console/assets.ts'
import { document } from '../../src/console/document.ts'
import { SCREENS } from '../../src/console/screens.ts'
import type { Frame, Members } from '../../src/console/engine/form.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { sectionsOf } from '../../src/console/sections.ts'

/** How large the pages of lists are whose rows are as long as rows of a busy server. */

const BRANDING = { name: 'Acme Cloud', accent: '#1f5fbf', logo: undefined } as never
const ROWS = 50
const AT = '2026-11-28T03:00:00.000Z'

function ids(prefix: string): readonly string[] {
  return Array.from({ length: ROWS }, (_, index) => `${prefix}01a2202fc507qD7mG16HhrM_Pyr6nep-${10 + index}`)
}

/** A page of a screen as a person with write access gets it. */
function bytesOf(path: string, answers: Members): number {
  const screen = SCREENS.find((one) => one.path === path) ?? assert.fail(path)
  const frame: Frame = {
    issuer: 'https://auth.acme.test',
    place: { path, parameters: {}, query: {}, now: Date.parse(AT) as EpochMs },
    organization: undefined,
    mayWrite: true,
    mayOpen: () => true,
    self: 'gus_self',
    isLoopbackOnly: false,
    reaches: () => true,
    isCut: false,
    outOfReach: '',
    csrf: 'c'.repeat(43),
    forms: screen.forms,
    filters: screen.filters.map((name) => ({ name, label: name, kind: 'text', choices: [], value: undefined })),
  }
  const { assets } = consoleAssets(BRANDING)
  const person = {
    name: 'Ada',
    email: 'ada@acme.test',
    access: 'write',
    organization: undefined,
    sections: sectionsOf(undefined),
    csrf: frame.csrf,
  }
  const common = { branding: BRANDING, assets, accountUri: 'https://auth.acme.test/account' }
  const { section } = screen
  const page = document({ ...common, ...screen.view(answers, frame), person, section } as never)
  assert.equal(page.match(/<(?:tr|li) [^>]*data-row/g)?.length, ROWS)
  return Buffer.byteLength(page)
}

test('a list of 50 long rows has at most 64 KiB', () => {
  const [users, clients, grants, others] = [ids('gus_'), ids('gci_'), ids(''), ids('gor_')]
  const names = Object.fromEntries([
    ...users.map((id) => [id, `bartholomew.featherstone@engineering.acme.test`]),
    ...clients.map((id) => [id, 'Visual Studio Code – Insiders']),
    ...others.map((id) => [id, 'Acme Cloud Engineering GmbH']),
  ])
  const rows = <Row>(make: (index: number) => Row): readonly Row[] => grants.map((_, index) => make(index))
  const sizes = {
    grants: bytesOf('/console/grants', {
      list: {
        grants: rows((index) => ({
          grant_id: grants[index],
          client_id: clients[index],
          user_id: users[index],
          organization_id: others[index],
          scope: 'openid projects:read projects:write builds:start',
          resources: [],
          grant_type: 'authorization_code',
          provider_id: null,
          created_at: AT,
          expires_at: AT,
          revoked_at: null,
          inactive_reason: null,
          refreshed_at: AT,
        })),
        names,
        next: grants.at(-1),
      },
    }),
    audit: bytesOf('/console/audit', {
      list: {
        events: rows((index) => ({
          id: `${grants[index] ?? ''}-0`,
          recorded_at: AT,
          event: 'sign-in.failed',
          client_id: clients[index],
          user_id: users[index],
          organization_id: null,
          grant_id: null,
          actor: null,
          request_id: 'TNsH3_1f-0000004i',
          details: {
            reason: 'wrong-credentials',
            account: 'q83vEjRWeJCrze8SNFZ4kAq83vEjRWeJCrze8SNFZ4k',
            browser: 'Chrome',
            system: 'Windows',
            networks: '198.51.100.0/24=7 203.0.113.0/24=2',
            again: 9,
          },
        })),
        names,
        next: null,
      },
    }),
    roles: bytesOf('/console/roles', {
      list: {
        roles: rows((index) => ({
          user_id: users[index],
          access: 'write',
          organization_id: others[index],
          loopback_only: false,
          set_at: AT,
          has_second_factor: false,
          signed_in_at: AT,
        })),
        names,
        next: users.at(-1),
      },
    }),
    members: bytesOf('/console/groups/{group_id}', {
      group: { group_id: 'finance', organization_id: null, name: 'Finance', created_at: AT, named_by: [] },
      list: {
        members: rows((index) => ({
          user_id: users[index],
          email: 'bartholomew.featherstone@engineering.acme.test',
          name: 'Bartholomew Featherstone',
          source: 'provider:engineering-directory',
          created_at: AT,
          expires_at: '2027-11-28T03:00:00.000Z',
          counts: true,
        })),
        next: `${users.at(-1) ?? ''} operator`,
      },
    }),
    credentials: bytesOf('/console/credentials', {
      list: {
        credentials: rows((index) => ({
          credential_id: grants[index],
          name: 'Deployment pipeline of the platform team',
          access: 'write',
          organization_id: others[index],
          created_at: AT,
          expires_at: '2027-11-28T03:00:00.000Z',
          revoked_at: null,
        })),
        next: grants.at(-1),
      },
    }),
  }
  const larger = Object.entries(sizes).filter(([, size]) => size > 65_536)
  assert.deepEqual(larger, [], JSON.stringify(sizes))
})
