import { forShell } from '../base/shell.ts'
import { namesIssuer } from '../protocol/token/resource.ts'
import { isLoopbackHost } from '../protocol/uri/loopback.ts'
import { failed, ok, warning, type Examination, type Finding, type NetworkChoices } from './finding.ts'

/** Clocks that differ by more make tokens look expired or not valid yet. */
const CLOCK_TOLERANCE_MS = 30_000
const DAY_MS = 24 * 60 * 60 * 1000
/** A certificate that is renewed automatically is renewed long before. */
const CERTIFICATE_DAYS_MIN = 14
/** A network that contains addresses of this machine. */
const OF_HERE = /^(127\.|::1|::ffff:127\.)|\/0$/

/** Checks the addresses, the trusted proxies, the response of the issuer, and the declared APIs. */
export function checkIssuer(examination: Examination): readonly Finding[] {
  return [...checkNetwork(examination), ...checkAnswer(examination), ...checkApis(examination)]
}

function checkNetwork({ choices, forwards }: Examination): readonly Finding[] {
  const { issuer, isLoopbackIssuer, host, port, trustedProxies } = choices
  const findings: Finding[] = []
  const listensOnLoopback = isLoopbackHost(host)
  if (isLoopbackIssuer && !listensOnLoopback) {
    findings.push(
      warning(
        'network',
        `The issuer is for this machine only, and the server listens on ${host}, where other machines reach it without TLS.`,
        'Unset GRANTOR_HOST, or set GRANTOR_ISSUER to the https address that others use.',
      ),
    )
  }
  const everyone = trustedProxies.filter((network) => network.endsWith('/0'))
  if (everyone.length > 0) {
    findings.push(
      warning(
        'network',
        `GRANTOR_TRUST_PROXY has ${everyone.join(' and ')}: any caller can claim any address, so rate limits have no effect.`,
        'Name the networks of your proxies only.',
      ),
    )
  }
  const isForProxiesElsewhere = trustedProxies.length > 0 && !trustedProxies.some((network) => OF_HERE.test(network))
  if (!isLoopbackIssuer && listensOnLoopback && isForProxiesElsewhere) {
    findings.push(
      warning(
        'network',
        `The server listens on ${host}, which only this machine reaches, and GRANTOR_TRUST_PROXY names only other machines.`,
        'If the proxy is on another machine, set GRANTOR_HOST to the address to which it forwards. Otherwise name 127.0.0.1.',
      ),
    )
  }
  if (issuer.startsWith('https:') && trustedProxies.length === 0) {
    findings.push(
      warning(
        'network',
        'No proxy is trusted, so all callers behind your proxy share one rate limit.',
        'Name the network that the proxy connects from, such as GRANTOR_TRUST_PROXY=127.0.0.1',
      ),
    )
  } else if (forwards !== undefined && forwards.ignored > 0) {
    findings.push(
      warning(
        'network',
        'A proxy on this machine is not in GRANTOR_TRUST_PROXY, so all callers behind it share one rate limit, and an earlier refresh token of theirs ends the grant.',
        'Add its address: 127.0.0.1, or ::1 if it connects by IPv6.',
      ),
    )
  }
  if (forwards !== undefined && forwards.missing > 0) {
    findings.push(
      warning(
        'network',
        'A trusted proxy sends requests without the address of the caller, so all callers behind it share one rate limit, and an earlier refresh token of theirs ends the grant.',
        'Let the proxy set X-Forwarded-For (docs/operations/proxies.md).',
      ),
    )
  }
  const issuerPort = new URL(issuer).port
  if (isLoopbackIssuer && issuer.startsWith('http:') && Number(issuerPort === '' ? 80 : issuerPort) !== port) {
    findings.push(
      warning(
        'network',
        `The issuer ${issuer} has another port than the server, which listens on ${port}.`,
        'Set PORT and GRANTOR_ISSUER to the same port, unless a proxy forwards from one to the other.',
      ),
    )
  }
  return findings.length > 0
    ? findings
    : [ok('network', `The server is to listen on ${host}, port ${port}, as ${issuer}.`)]
}

function checkAnswer({ choices, store, probe, now }: Examination): readonly Finding[] {
  const { issuer } = choices
  switch (probe.kind) {
    case 'unreachable':
      return [
        failed(
          'issuer',
          `${probe.address} cannot be reached: ${probe.reason}.`,
          probe.certificateError === undefined
            ? 'Start the server (grantor serve); if it runs, check DNS, the proxy and the firewall between this machine and the server.'
            : certificateRemedy(probe.certificateError),
        ),
      ]
    case 'no-metadata':
      // The servers answer nothing then.
      if (store.history?.kind === 'went-back') return []
      return [
        failed(
          'issuer',
          `${probe.address} responded, but not as Grantor does: status ${probe.status} and no metadata.`,
          answerRemedy(probe, choices),
        ),
      ]
    case 'answered':
      break
  }
  if (probe.issuer !== issuer) {
    return [
      failed(
        'issuer',
        `The server at ${probe.address} has the issuer ${probe.issuer}, and the issuer configured here is ${issuer}.`,
        'Set GRANTOR_ISSUER to the same text for both; clients compare it byte for byte.',
      ),
    ]
  }
  const findings = [ok('issuer', `${probe.address} responds with the same issuer.`)]
  const known = store.keys.map(({ id }) => id)
  if (probe.keyIds !== undefined && known.length > 0 && !probe.keyIds.some((id) => known.some((key) => key === id))) {
    findings.push(
      failed(
        'issuer',
        'The server that responds signs with keys that are not in this database.',
        'Give this command the DATABASE_URL of that server, or stop the server that should not run.',
      ),
    )
  }
  if (probe.time !== undefined && Math.abs(probe.time - now) > CLOCK_TOLERANCE_MS) {
    findings.push(
      warning(
        'clock',
        `The clock of the server is ${Math.round(Math.abs(probe.time - now) / 1000)} s ${probe.time > now ? 'ahead of' : 'behind'} this clock.`,
        'Set both clocks by NTP.',
      ),
    )
  }
  if (probe.certificateEndsAt !== undefined && probe.certificateEndsAt - now < CERTIFICATE_DAYS_MIN * DAY_MS) {
    const days = Math.floor((probe.certificateEndsAt - now) / DAY_MS)
    findings.push(
      warning('certificate', `The certificate of ${probe.address} expires in ${days} days.`, 'Renew it at the proxy.'),
    )
  }
  return findings
}

/** What an answer without metadata points to. The gate refuses what looks like plain HTTP, which is the only 400 of this path. */
function answerRemedy({ status, error }: { status: number; error: unknown }, { host, port }: NetworkChoices): string {
  if (status === 400 && error === 'invalid_request') {
    return 'Let the proxy set X-Forwarded-Proto: https, and name in GRANTOR_TRUST_PROXY the address that it connects from: it is the network in the line of the log with insecure_transport.'
  }
  if (status >= 502 && status <= 504) {
    return `The proxy reaches no server that is ready. Compare the address to which it forwards with GRANTOR_HOST (${host}) and PORT (${port}), and request /health/ready there from the proxy.`
  }
  return 'Let the proxy forward this path to Grantor unchanged, and check that no other program listens there.'
}

function certificateRemedy(code: string): string {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return 'Renew the certificate at the proxy. If its renewal is automatic, check the log of that program.'
    case 'CERT_NOT_YET_VALID':
      return 'Compare the clock of this machine with the time from which the certificate is valid.'
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return 'Give the proxy a certificate for the host of the issuer, or correct GRANTOR_ISSUER.'
    default:
      return 'If a private CA signed the certificate, set NODE_EXTRA_CA_CERTS=<file of the CA> in the environment of the command. Otherwise let the proxy send the whole chain.'
  }
}

/** Only declared APIs can be requested, except from a loopback issuer (decision 0006). */
function checkApis({ choices, store: { database } }: Examination): readonly Finding[] {
  if (database.kind === 'unusable') return []
  const apis = database.kind === 'opened' ? database.apis : []
  const own = checkOwnApis(choices, apis)
  if (own.length > 0) return own
  if (apis.length > 0) return [ok('apis', `${apis.length} declared.`)]
  if (choices.isLoopbackIssuer) {
    return [ok('apis', 'No API is declared, so any scope and resource can be requested on this machine.')]
  }
  return [
    warning(
      'apis',
      'No API is declared, so no scope and no resource can be requested.',
      'Declare one: grantor api create --resource https://api.example.com --scope read="Read your projects"',
    ),
  ]
}

/** An API that was declared under another issuer may have the address of this one. It gets no tokens (threats.md OP-18). */
export function checkOwnApis(
  { issuer }: Pick<NetworkChoices, 'issuer'>,
  resources: readonly string[],
): readonly Finding[] {
  return resources
    .filter((resource) => namesIssuer(resource, issuer))
    .map((resource) =>
      failed(
        'apis',
        `The API ${resource} has the address of this server, so it gets no tokens, and no client may name the server as a resource.`,
        `Declare it with another identifier, and delete this one: grantor api delete ${forShell(resource)}`,
        { path: `/console/apis/${encodeURIComponent(resource)}`, label: 'Open the API' },
      ),
    )
}
