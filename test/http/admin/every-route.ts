import assert from 'node:assert/strict'
import type { Task } from '../../../src/admin/task.ts'
import { TASKS } from '../../../src/admin/tasks.ts'
import type { OrganizationId } from '../../../src/protocol/ids.ts'
import { MAY, RULES, type Rule } from './rules.ts'
import type { AdminServer } from '../../support/admin-server.ts'
import type { Members } from '../../support/tasks.ts'

export interface Row {
  readonly task: Task
  readonly rule: Rule
}

/** Every task with its rule. */
export function rowsOf(): readonly Row[] {
  return TASKS.map((task) => {
    const rule = RULES[task.name]
    assert.ok(rule, `Add to RULES in test/http/admin/rules.ts who may perform ${task.name}.`)
    return { task, rule }
  })
}

/** Does every task with each kind of credentials that is good for it. */
export async function performEveryTask(stage: AdminServer): Promise<void> {
  for (const { task, rule } of rowsOf()) {
    for (const access of MAY[rule.access]) {
      const { token } = await stage.issue(access, undefined, 365)
      await assertDone(stage, { task, rule }, await rule.sample(stage), token)
    }
    if (rule.extent === 'server') continue
    for (const access of MAY[rule.access]) {
      const input = await rule.sample(stage)
      const own = await stage.issue(access, input['organization_id'] as OrganizationId)
      await assertDone(stage, { task, rule }, input, own.token)
    }
  }
}

async function assertDone(stage: AdminServer, { task, rule }: Row, input: Members, token: string): Promise<void> {
  const answer = await stage.perform(task, input, token)
  assert.equal(answer.statusCode, rule.status, `${task.name}: ${answer.body}`)
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(answer.headers['content-type'], 'application/json')
  assert.equal(answer.headers['access-control-allow-origin'], undefined)
  if (rule.status >= 400) return
  const read = task.output.strict().safeParse(answer.json())
  assert.ok(read.success, `${task.name} answers otherwise than its row says: ${read.error?.message}\n${answer.body}`)
}
