// A real identity provider: whoever types a name at it is that subject. Its arguments are the allowed redirect URIs.
import { once } from 'node:events';
import { createServer } from 'node:http';

// It warns of what makes it a test's: its keys and its memory.
console.warn = () => undefined;
const { Provider } = await import('oidc-provider');

const redirectUris = process.argv.slice(2);
const server = createServer();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const issuer = `http://localhost:${server.address().port}`;

const common = { redirect_uris: redirectUris, grant_types: ['authorization_code'], response_types: ['code'] };
const provider = new Provider(issuer, {
  clients: [
    { ...common, client_id: 'sverka', client_secret: 'a-secret-of-the-test-alone-0123456789' },
    { ...common, client_id: 'sverka-public', token_endpoint_auth_method: 'none' },
  ],
  cookies: { keys: ['a-key-of-the-test-alone'] },
  features: { devInteractions: { enabled: false } },
  findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  // Nobody is asked whether our own client may know a subject.
  async loadExistingGrant({ oidc }) {
    const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
    grant.addOIDCScope('openid');
    await grant.save();
    return grant;
  },
});

const FORM =
  '<!doctype html><title>Identity provider</title><form method="post"><input name="login">' +
  '<button>Continue</button><button name="abort" value="yes">Cancel</button></form>';
const callback = provider.callback();
server.on('request', async (request, response) => {
  if (!request.url.startsWith('/interaction/')) return callback(request, response);
  if (request.method === 'GET') return response.setHeader('content-type', 'text/html').end(FORM);
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const form = new URLSearchParams(Buffer.concat(chunks).toString());
  const result = form.has('abort')
    ? { error: 'access_denied', error_description: 'cancelled' }
    : { login: { accountId: form.get('login') } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
});

process.on('disconnect', () => process.exit());
process.send({ issuer });
