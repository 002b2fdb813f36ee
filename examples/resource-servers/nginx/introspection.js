async function check(request) {
  const bearer = /^Bearer (\S+)$/i.exec(request.headersIn.Authorization || '')
  if (bearer === null) return refuse(request, 401, 'Bearer')
  const body = `token=${encodeURIComponent(bearer[1])}`
  const answer = await request.subrequest('/introspect', { method: 'POST', body })
  if (answer.status !== 200) throw new Error(`Introspection answered ${answer.status}`)
  const claims = JSON.parse(answer.responseText)
  // A bound token needs a proof.
  if (!claims.active || claims.cnf) return refuse(request, 401, 'Bearer error="invalid_token"')
  if (!(claims.scope || '').split(' ').includes('orders:read')) {
    return refuse(request, 403, 'Bearer error="insufficient_scope", scope="orders:read"')
  }
  request.return(204)
}

function refuse(request, status, challenge) {
  request.headersOut['WWW-Authenticate'] = challenge
  request.return(status)
}

export default { check }
