import { randomBytes } from 'node:crypto'
import type { AccessRuleRecord, RuleId } from '../../../src/protocol/access/rule.ts'
import { mintOrganizationId } from '../../../src/protocol/ids.ts'
import { NOW } from '../records.ts'

export function anAccessRule(differing: Partial<AccessRuleRecord> = {}): AccessRuleRecord {
  const any = { only: [], except: [] }
  const id = mintOrganizationId(NOW, randomBytes).replace('gor_', 'rule-') as RuleId
  const rule = { id, clients: any, access: any, people: any, require: undefined, state: 'on' } as const
  return { ...rule, sentence: undefined, createdAt: NOW, updatedAt: NOW, ...differing }
}
