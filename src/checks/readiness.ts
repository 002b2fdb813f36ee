import { isWriteFault, WRITE_FAULT_REMEDIES } from '../base/write-fault.ts'
import { failed, ok, type Examination, type Finding } from './finding.ts'

/**
 * Reports what the server on this machine says. It knows more than a look at the database shows: that its writes fail, and that its
 * clock differs. A server on another machine is no fault.
 */
export function checkReadiness({ readiness }: Pick<Examination, 'readiness'>): readonly Finding[] {
  switch (readiness.kind) {
    case 'unreachable':
      return []
    case 'ready':
      return [ok('readiness', `${readiness.address}: ready.`)]
    case 'not-ready':
      // Another program, which the check of the issuer reports.
      if (readiness.status !== 503) return []
      return [
        failed(
          'readiness',
          `${readiness.address}: not ready: ${readiness.message.replace(/\.?$/, '.')}`,
          remedyOf(readiness.reason),
        ),
      ]
  }
}

function remedyOf(reason: string | undefined): string {
  if (reason === 'store_went_back') return 'See "history" above.'
  return isWriteFault(reason) ? WRITE_FAULT_REMEDIES[reason] : 'See the log of the server.'
}
