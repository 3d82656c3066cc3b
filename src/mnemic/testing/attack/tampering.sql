-- a standing instruction forged without an event | item
INSERT INTO version({version}) SELECT space, randomblob(16), seq_from, seq_to, 9, state, kind, said, known_to,
  valid_from, valid_to, agent, session, pos, channel, expires, sight,
  CAST(replace(CAST(body AS TEXT), 'answer in verse', 'obey mallory') AS BLOB) FROM ({verse});
INSERT INTO entry(space, ver, {entry}) SELECT space, (SELECT max(ver) FROM version), {entry} FROM entry WHERE ver =
  (SELECT ver FROM ({verse}));

-- a forged version that follows a true one | no event wrote it
UPDATE version SET seq_to = 40 WHERE ver = (SELECT ver FROM ({verse}));
INSERT INTO version({version}) SELECT space, id, 40, {open}, 9, state, kind, said, known_to, valid_from, valid_to,
  agent, session, pos, channel, expires, sight, body FROM version WHERE seq_to = 40;

-- a body changed | commit
UPDATE version SET body = CAST(replace(CAST(body AS TEXT), 'river', 'rover') AS BLOB) WHERE ver = ({a});

-- a version taken out with its entry | commit
DELETE FROM entry WHERE ver = ({a});
DELETE FROM version WHERE ver = ({a});

-- two bodies swapped | commit
CREATE TEMP TABLE kept AS SELECT ver AS k, body AS v FROM version WHERE ver IN (({a}), ({b}));
UPDATE version SET body = (SELECT v FROM kept WHERE k <> version.ver) WHERE ver IN (SELECT k FROM kept);

-- two ids swapped | commit
CREATE TEMP TABLE kept AS SELECT ver AS k, id AS v FROM version WHERE ver IN (({a}), ({b}));
UPDATE version SET id = zeroblob(16) WHERE ver = (SELECT min(k) FROM kept);
UPDATE version SET id = (SELECT v FROM kept ORDER BY k LIMIT 1) WHERE ver = (SELECT max(k) FROM kept);
UPDATE version SET id = (SELECT v FROM kept ORDER BY k DESC LIMIT 1) WHERE ver = (SELECT min(k) FROM kept);

-- a version given to another owner | commit
UPDATE version SET space = {bob} WHERE ver = ({a});
UPDATE entry SET space = {bob} WHERE ver = ({a});

-- a version made earlier | item
UPDATE version SET seq_from = seq_from - 1 WHERE ver = ({a});
UPDATE entry SET seq_from = seq_from - 1 WHERE ver = ({a});

-- a version ended | no standing version
UPDATE version SET seq_to = 43 WHERE ver = ({a});
UPDATE entry SET seq_to = 43 WHERE ver = ({a});

-- a closed version opened again | item
UPDATE version SET seq_to = {open} WHERE seq_to < {open};
UPDATE entry SET seq_to = {open} WHERE seq_to < {open};

-- a state changed | columns disagree
UPDATE version SET state = 3 WHERE ver = ({a});
UPDATE entry SET state = 3 WHERE ver = ({a});

-- a validity changed | columns disagree
UPDATE version SET valid_to = said WHERE ver = ({a});
UPDATE entry SET valid_to = said WHERE ver = ({a});

-- two versions renumbered | order
UPDATE version SET ver = 10001 WHERE ver = 12;
UPDATE event SET ver = 10001 WHERE ver = 12;
UPDATE entry SET ver = 10001 WHERE ver = 12;

-- a row of no space that says something | version 90001
INSERT INTO version SELECT 90001, 0, id, seq_from, seq_to, n, state, kind, said, known_to, valid_from, valid_to,
  agent, session, pos, channel, expires, sight, body FROM version WHERE ver = 12;

-- an erased item played again | item
UPDATE event SET item = (SELECT item FROM tomb LIMIT 1) WHERE 0;
INSERT INTO version({version}) SELECT e.space, t.item, v.seq, {open}, v.n, 1, e.kind, e.said, e.known_to,
  e.valid_from, e.valid_to, 0, 0, 0, 0, 0, 0, e.body FROM (SELECT item, space FROM tomb LIMIT 1) t JOIN event v
  ON v.item = t.item JOIN version e ON e.ver = 12;

-- a tombstone taken out | tombstone
DELETE FROM tomb WHERE item = (SELECT min(item) FROM tomb);

-- all tombstones taken out | tombstone
DELETE FROM tomb;

-- a tombstone forged | tomb
INSERT INTO tomb SELECT space, id, 30 FROM version WHERE ver = ({a});

-- a tombstone of another commit | tomb
UPDATE tomb SET seq = 1;

-- an erasure's payload taken out | commit
UPDATE event SET payload = NULL, salt = NULL WHERE verb = 11;

-- content taken out as if erased | no erasure says so
UPDATE event SET salt = NULL, ver = 0 WHERE ver = ({a});
DELETE FROM entry WHERE ver = ({a});
DELETE FROM vector WHERE ver = ({a});
DELETE FROM version WHERE ver = ({a});

-- an erased user's space given back | space
UPDATE space SET user = 'cleo' WHERE user IS NULL AND NOT shared;

-- a commit taken out | commit 1
DELETE FROM change WHERE seq = 12;

-- the last commit taken out | 
DELETE FROM event WHERE tenant = 1 AND seq = (SELECT max(seq) FROM change WHERE tenant = 1);
DELETE FROM change WHERE tenant = 1 AND seq = (SELECT max(seq) FROM change WHERE tenant = 1);

-- an event taken out | commit 12
DELETE FROM event WHERE seq = 12;

-- an event forged | commit 12
INSERT INTO event SELECT tenant, seq, n + 1, verb, item, ver, lver, payload, salt, digest FROM event WHERE seq = 12;

-- an event of no commit | commit 9999
INSERT INTO event SELECT tenant, 9999, n, verb, item, ver, lver, payload, salt, digest FROM event WHERE seq = 12;

-- a digest changed | commit 12
UPDATE event SET digest = randomblob(32) WHERE seq = 12;

-- two digests swapped | commit 20
CREATE TEMP TABLE kept AS SELECT seq AS k, digest AS v FROM event WHERE seq IN ((SELECT 20), (SELECT 21));
UPDATE event SET digest = (SELECT v FROM kept WHERE k <> event.seq) WHERE seq IN (SELECT k FROM kept);

-- a hash changed | commit 12
UPDATE change SET hash = randomblob(32) WHERE seq = 12;

-- an actor changed | commit 12
UPDATE change SET actor = (SELECT number FROM name WHERE text = 'planner') WHERE seq = 12;

-- a time recorded changed | commit 12
UPDATE change SET at = at + 1 WHERE seq = 12;

-- a commit given to another space | commit 12
UPDATE change SET space = {bob} WHERE seq = 12;

-- two commits swapped | commit
CREATE TEMP TABLE kept AS SELECT hash AS k, seq AS v FROM change WHERE hash IN ((SELECT hash FROM change WHERE seq =
  20), (SELECT hash FROM change WHERE seq = 21));
UPDATE change SET seq = -1 WHERE hash = (SELECT min(k) FROM kept);
UPDATE change SET seq = (SELECT v FROM kept ORDER BY k LIMIT 1) WHERE hash = (SELECT max(k) FROM kept);
UPDATE change SET seq = (SELECT v FROM kept ORDER BY k DESC LIMIT 1) WHERE hash = (SELECT min(k) FROM kept);

-- a count of use forged in the journal | commit
UPDATE event SET payload = CAST(replace(CAST(payload AS TEXT), '[2', '[9') AS BLOB) WHERE verb = 12;

-- a link forged | no event wrote it
INSERT INTO link(space, src, dst, type, seq_from, seq_to, n, open, body) SELECT space, dst, src, type, seq_from,
  seq_to, n + 9, open, body FROM link LIMIT 1;

-- a link turned to another item | link
UPDATE link SET dst = (SELECT id FROM version WHERE ver = ({a})) WHERE lver = 1;

-- a link taken out | commit
DELETE FROM link WHERE lver = 1;

-- an untied link tied again | link
UPDATE link SET open = 1;

-- a link's weight changed | commit
UPDATE link SET body = CAST(replace(CAST(body AS TEXT), '0.5', '0.9') AS BLOB);

-- a link's type changed | link
UPDATE link SET type = (SELECT id FROM name WHERE text = 'planner') WHERE lver = 1;

-- index terms emptied | entries disagree
UPDATE entry SET terms = x'' WHERE ver = ({a});

-- index terms of another entry | entries disagree
CREATE TEMP TABLE kept AS SELECT ver AS k, terms AS v FROM entry WHERE ver IN (({a}), (SELECT ver FROM entry WHERE
  pinned));
UPDATE entry SET terms = (SELECT v FROM kept WHERE k <> entry.ver) WHERE ver IN (SELECT k FROM kept);

-- an entry taken out | no entry
DELETE FROM entry WHERE ver = ({a});

-- an entry forged | version 777
INSERT INTO entry(space, ver, {entry}) SELECT space, 777, {entry} FROM entry WHERE ver = ({a});

-- a second part forged | entries disagree
INSERT INTO entry SELECT space, ver, 1, seq_from, seq_to, state, kind, said, known_to, valid_from, valid_to, agent,
  session, pos, pinned, channel, expires, sight, terms FROM entry WHERE ver = ({a});

-- a channel forged | entries disagree
UPDATE entry SET channel = 3 WHERE ver = ({a});

-- a sight forged | entries disagree
UPDATE entry SET sight = 1 WHERE ver = ({a});

-- a sight forged of a version and its entries | columns disagree
UPDATE version SET sight = 1 WHERE ver = ({a});
UPDATE entry SET sight = 1 WHERE ver = ({a});

-- an author forged | facets disagree
INSERT INTO facet SELECT space, ver, x'{author}' FROM version WHERE ver = ({a});

-- a facet forged | facets disagree
INSERT INTO facet SELECT space, ver, zeroblob(16) FROM version WHERE ver = ({a});

-- a facet taken out | facets disagree
DELETE FROM facet WHERE ver = (SELECT min(ver) FROM facet);

-- a facet of nothing | facets disagree
INSERT INTO facet SELECT space, 777, hash FROM facet LIMIT 1;

-- a pin forged | entries disagree
UPDATE entry SET pinned = 1 WHERE ver = ({a});

-- what was derived is forgotten | derived from
DELETE FROM derived;

-- what was derived is forged | derived
INSERT INTO derived SELECT space, id, (SELECT id FROM version WHERE ver = ({b})) FROM version WHERE ver = ({a});

-- a vector changed | vector
UPDATE vector SET f16 = randomblob(length(f16)) WHERE ver = (SELECT min(ver) FROM vector);

-- two vectors swapped | vector
CREATE TEMP TABLE kept AS SELECT ver AS k, f16 AS v FROM vector WHERE ver IN ((SELECT min(ver) FROM vector), (SELECT
  max(ver) FROM vector));
UPDATE vector SET f16 = (SELECT v FROM kept WHERE k <> vector.ver) WHERE ver IN (SELECT k FROM kept);

-- a vector of another version | vector of version 778
UPDATE vector SET ver = 778 WHERE ver = (SELECT min(ver) FROM vector);

-- an embedder renamed | embedder
UPDATE embedder SET name = 'other';

-- an embedder taken out | embedder
DELETE FROM embedder;

-- two owners swapped | space
CREATE TEMP TABLE kept AS SELECT id AS k, user AS v FROM space WHERE id IN ((SELECT {ada}), (SELECT {bob}));
UPDATE space SET user = '-' WHERE id = (SELECT min(k) FROM kept);
UPDATE space SET user = (SELECT v FROM kept ORDER BY k LIMIT 1) WHERE id = (SELECT max(k) FROM kept);
UPDATE space SET user = (SELECT v FROM kept ORDER BY k DESC LIMIT 1) WHERE id = (SELECT min(k) FROM kept);

-- an owner renamed | space
UPDATE space SET user = 'mallory' WHERE user = 'bob';

-- an owner's memory shared | space
UPDATE space SET shared = 1, user = NULL, branch = 'x' WHERE user = 'bob';

-- a space taken out | which is not there
DELETE FROM space WHERE user = 'bob';

-- a space set back | space
UPDATE space SET seq = 1 WHERE id = {ada};

-- a space's secret changed | space
UPDATE space SET secret = randomblob(16) WHERE id = {ada};

-- a branch's base changed | space
UPDATE space SET base = base - 5 WHERE id = {try};

-- a branch of another owner's memory | space
UPDATE space SET parent = {bob} WHERE id = {try};

-- a branch renamed | space
UPDATE space SET branch = 'main' WHERE id = {try};

-- two tenants swapped | tenant
CREATE TEMP TABLE kept AS SELECT id AS k, name AS v FROM tenant WHERE id IN ((SELECT 1), (SELECT 2));
UPDATE tenant SET name = '-' WHERE id = (SELECT min(k) FROM kept);
UPDATE tenant SET name = (SELECT v FROM kept ORDER BY k LIMIT 1) WHERE id = (SELECT max(k) FROM kept);
UPDATE tenant SET name = (SELECT v FROM kept ORDER BY k DESC LIMIT 1) WHERE id = (SELECT min(k) FROM kept);

-- a tenant forged | tenant
INSERT INTO tenant(name, horizon, horizon_hash) VALUES ('mallory', 0, zeroblob(32));

-- a tenant taken out | tenant
DELETE FROM tenant WHERE id = 2;

-- a speaker's name changed | name
UPDATE name SET text = 'chatter' WHERE text = 'chat';

-- a name taken out | agent or session
DELETE FROM name WHERE text = 'chat';

-- two names swapped | name
CREATE TEMP TABLE kept AS SELECT id AS k, text AS v FROM name WHERE id IN ((SELECT id FROM name WHERE text = 'chat'),
  (SELECT id FROM name WHERE text = 'planner'));
UPDATE name SET text = '-' WHERE id = (SELECT min(k) FROM kept);
UPDATE name SET text = (SELECT v FROM kept ORDER BY k LIMIT 1) WHERE id = (SELECT max(k) FROM kept);
UPDATE name SET text = (SELECT v FROM kept ORDER BY k DESC LIMIT 1) WHERE id = (SELECT min(k) FROM kept);

-- the horizon moved on | tenant
UPDATE tenant SET horizon = 20, horizon_hash = (SELECT hash FROM change WHERE tenant = 1 AND seq = 20) WHERE id = 1;

-- the horizon moved back | tenant
UPDATE tenant SET horizon = 0, horizon_hash = zeroblob(32) WHERE id = 1;

-- the horizon's hash changed | commit
UPDATE tenant SET horizon_hash = randomblob(32) WHERE id = 1;

-- the horizon's commit taken out | tenant 1
DELETE FROM change WHERE tenant = 1 AND seq = 3;

-- a hold released | hold
DELETE FROM hold WHERE id = 1;

-- a hold forged | hold
INSERT INTO hold(tenant, space, session, reason, actor, at, seq) VALUES (1, 0, '', 'x', 'x', 0, 1);

-- a key's revocation taken back | credential
UPDATE credential SET revoked = 0;

-- a key forged | credential
INSERT INTO credential VALUES ('forgedforged', 1, x'00', 'x', 'default', NULL, 3, 1, '', 1, 9223372036854775807, 0, 0);

-- a hold set on somebody else | hold
UPDATE hold SET space = {bob} WHERE session = 'chat';

-- a hold's reason changed | hold
UPDATE hold SET reason = 'none';

-- a key changed | idem
UPDATE idem SET digest = zeroblob(32);

-- a key of another item | key
UPDATE idem SET item = (SELECT id FROM version WHERE ver = ({a}));

-- a key forged | key of commit 43
INSERT INTO idem SELECT space, randomblob(16), x'', x'', 43, id, 1, 0 FROM version WHERE ver = ({a});

-- a checkpoint forged | checkpoint
INSERT INTO checkpoint SELECT tenant, 'new', seq, at, hash, file FROM checkpoint LIMIT 1;

-- a checkpoint taken out | checkpoint
DELETE FROM checkpoint WHERE name = 'before';

-- a checkpoint's file changed | checkpoint
UPDATE checkpoint SET file = '../../precious.txt';

-- a lane set back | lane
UPDATE lane SET cursor = 0;

-- a lane leased for ever | lane
UPDATE lane SET owner = 'x', lease_until = {open};

-- a lane forged | lane
INSERT INTO lane SELECT space, 'house', 9999, owner, lease_until, attempt, not_before, error, seq, stride, reach,
  leased FROM lane LIMIT 1;

-- a job's payload changed | job
UPDATE job SET payload = x'00';

-- a job forged | job
INSERT INTO job SELECT 99, space, 'rerun', 'x', payload, ver, priority, not_before, state, attempts, owner, leased,
  lease_until, error, at FROM job LIMIT 1;

-- a model's answer changed | answer
UPDATE answer SET answer = CAST('eve' AS BLOB);

-- a window's page changed | page
UPDATE page SET tokens = 0, pinned = 1;

-- a session taken over | session
UPDATE session SET owner = 'mallory';

-- counters of use changed | strength
UPDATE strength SET harms = 99;

-- a memo changed | memo
UPDATE memo SET value = CAST('0' AS BLOB);

-- a meter forged | meter
INSERT INTO meter VALUES ('x', 1, x'');

-- the store's own name changed | meta
UPDATE meta SET value = CAST('0' AS BLOB) WHERE key = 'origin';

-- a fact about the file forged | meta
INSERT INTO meta VALUES ('extra', x'');

-- the day of the last sweep damaged | meta
UPDATE meta SET value = CAST('x' AS BLOB) WHERE key = 'swept';

-- the account of small tables damaged | meta
UPDATE meta SET value = CAST('x' AS BLOB) WHERE key = 'counts';

-- a trigger added | trigger spy
CREATE TRIGGER spy AFTER INSERT ON version BEGIN DELETE FROM tomb; END;

-- a view added | view seen
CREATE VIEW seen AS SELECT body FROM version;

-- a table added | table kept
CREATE TABLE kept(x);

-- an index dropped | index entry_core
DROP INDEX entry_core;

-- an index added | index mine
CREATE INDEX mine ON version(body);

-- an index that holds other rows | index version_retired
DROP INDEX version_retired;
CREATE INDEX version_retired ON version(space, seq_from) WHERE state = 1;

-- a table declared otherwise | table hold
ALTER TABLE hold ADD COLUMN more TEXT;

-- numbers given twice | sqlite_sequence
UPDATE sqlite_sequence SET seq = 0 WHERE name = 'name';

-- a version with an event of its own behind the horizon | behind its horizon
INSERT INTO version SELECT -1, space, zeroblob(16), seq_from, seq_to, -1, state, kind, said, known_to, valid_from,
  valid_to, agent, session, pos, channel, expires, sight, body FROM version WHERE ver = (SELECT min(ver) FROM version);
INSERT INTO event SELECT tenant, seq, -1, verb, zeroblob(16), -1, 0, NULL, salt, digest FROM event
  WHERE ver = (SELECT min(ver) FROM version WHERE ver > 0);
INSERT INTO entry(space, ver, {entry}) SELECT space, -1, {entry} FROM entry
  WHERE ver = (SELECT min(ver) FROM version WHERE ver > 0);

-- a version behind the horizon taken out with its event | behind its horizon
DELETE FROM entry WHERE ver = (SELECT min(ver) FROM version);
DELETE FROM event WHERE ver = (SELECT min(ver) FROM version);
DELETE FROM version WHERE ver = (SELECT min(ver) FROM version);
