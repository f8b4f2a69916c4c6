PRAGMA user_version = 231668789;
PRAGMA application_id = 9;
BEGIN TRANSACTION;
CREATE TABLE api_key (
    id          TEXT PRIMARY KEY,
    team_id     TEXT NOT NULL REFERENCES team (id),
    name        TEXT NOT NULL,
    hash        TEXT NOT NULL UNIQUE,
    mask_prefix TEXT NOT NULL,
    mask_suffix TEXT NOT NULL,
    created_at  BIGINT NOT NULL
, scope TEXT NOT NULL DEFAULT 'all', expires_at BIGINT, last_used_at BIGINT, person_id TEXT, sign_in_id TEXT, limits TEXT);
INSERT INTO "api_key" VALUES('c6bb62f9-481f-4286-813a-39b476a28c9f','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','first key','$sha256$Q4vecOIZI2CbGREV34+xN4tbqVX4+Vt8xzRc6gh2/s4','a6','868e',1789984800000,'all',NULL,1789984800000,NULL,NULL,NULL);
INSERT INTO "api_key" VALUES('02917afd-b096-495a-9792-67974dfc8d24','8743de0e-ac0c-4839-b14f-9d1122bac923','theirs','$sha256$3K20e6aI8WD1rREACeI1R20vgWBYNdIzsJUAbSm1Fgk','2c','d6bc',1789984800000,'all',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "api_key" VALUES('2036d77a-1ef9-4343-b548-cc42b63c900f','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','reader','$sha256$XoMh3vaUxpZcBrc+xjspdJTZpto5Qntkc8Lxb13dgco','08','5af2',1789984800000,'read',NULL,NULL,NULL,NULL,NULL);
CREATE TABLE audit (
    sequence   BIGINT PRIMARY KEY,
    id         TEXT NOT NULL,
    at         BIGINT NOT NULL,
    action     TEXT NOT NULL,
    actor      TEXT NOT NULL,
    team_id    TEXT,
    sandbox_id TEXT,
    body       TEXT NOT NULL,
    hash       TEXT NOT NULL
);
INSERT INTO "audit" VALUES(1,'885c9768-447c-40c8-a3b1-d8169076cf5c',1789984800000,'daemon.start','daemon',NULL,NULL,'{"action":"daemon.start","actor":"daemon","id":"885c9768-447c-40c8-a3b1-d8169076cf5c","result":"ok","sequence":1,"time":"2026-09-21T10:00:00Z"}','5feb679614d6c8776ebdbb8593509eb54330edea2d8a058f4c95361750c4efd8');
INSERT INTO "audit" VALUES(2,'ab26d4e6-8129-4a51-946a-2e739da260db',1789984800000,'team.create','operator','8743de0e-ac0c-4839-b14f-9d1122bac923',NULL,'{"action":"team.create","actor":"operator","address":"127.0.0.1","credential":"admin token","id":"ab26d4e6-8129-4a51-946a-2e739da260db","request":"POST /admin/teams","result":"ok","sequence":2,"status":"201","team":"8743de0e-ac0c-4839-b14f-9d1122bac923","time":"2026-09-21T10:00:00Z"}','2f57103ee7c51f8a3b9d492f5a5ee7b13a981786c70da4ba7d9f4ae7fc0d90bd');
INSERT INTO "audit" VALUES(3,'771e7423-abf1-4c59-8ddd-d4213c920a24',1789984800000,'key.create','operator','8743de0e-ac0c-4839-b14f-9d1122bac923',NULL,'{"action":"key.create","actor":"operator","address":"127.0.0.1","credential":"admin token","id":"771e7423-abf1-4c59-8ddd-d4213c920a24","key":"02917afd-b096-495a-9792-67974dfc8d24","request":"POST /admin/teams/{teamID}/api-keys","result":"ok","sequence":3,"status":"201","team":"8743de0e-ac0c-4839-b14f-9d1122bac923","time":"2026-09-21T10:00:00Z"}','e4bfce666659de33a4364fad0a660da654f86e40bf2ac76bb3504dfc8a908fcb');
INSERT INTO "audit" VALUES(4,'f65ba407-c955-45b0-af33-71597e8fb84f',1789984800000,'team.limit','operator','8743de0e-ac0c-4839-b14f-9d1122bac923',NULL,'{"action":"team.limit","actor":"operator","address":"127.0.0.1","credential":"admin token","id":"f65ba407-c955-45b0-af33-71597e8fb84f","request":"PUT /admin/teams/{teamID}/limits","result":"ok","sequence":4,"status":"200","team":"8743de0e-ac0c-4839-b14f-9d1122bac923","time":"2026-09-21T10:00:00Z"}','03e1c5d9c7b7f7af14ccdad3d9c2b4237c8559aa0336ab21c1c36e85bbdda4a5');
INSERT INTO "audit" VALUES(5,'34b26e0a-f7c6-48d6-ac11-540afe9a7a34',1789984800000,'team.network','operator','8743de0e-ac0c-4839-b14f-9d1122bac923',NULL,'{"action":"team.network","actor":"operator","address":"127.0.0.1","credential":"admin token","id":"34b26e0a-f7c6-48d6-ac11-540afe9a7a34","request":"PUT /admin/teams/{teamID}/network","result":"ok","sequence":5,"status":"200","team":"8743de0e-ac0c-4839-b14f-9d1122bac923","time":"2026-09-21T10:00:00Z"}','687c1bad51708ea29b3388bf371954450e44a375e76f45f33db2164b5a72e988');
INSERT INTO "audit" VALUES(6,'3e07ea27-f625-4707-8651-77a1c9334d30',1789984800000,'key.create','key:c6bb62f9-481f-4286-813a-39b476a28c9f','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91',NULL,'{"action":"key.create","actor":"key:c6bb62f9-481f-4286-813a-39b476a28c9f","address":"127.0.0.1","credential":"e2b_a6...868e","id":"3e07ea27-f625-4707-8651-77a1c9334d30","key":"2036d77a-1ef9-4343-b548-cc42b63c900f","request":"POST /api-keys","result":"ok","sequence":6,"status":"201","team":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","time":"2026-09-21T10:00:00Z"}','36d010738be2d0b909b94dbcda0876276c03b1981e584a77756c1874086b7ed2');
INSERT INTO "audit" VALUES(7,'c6186113-187f-4d09-a01d-768871d539bb',1789984800000,'team.add-member','operator','8743de0e-ac0c-4839-b14f-9d1122bac923',NULL,'{"action":"team.add-member","actor":"operator","address":"127.0.0.1","credential":"admin token","id":"c6186113-187f-4d09-a01d-768871d539bb","request":"PUT /admin/teams/{teamID}/members/{email}","result":"ok","sequence":7,"status":"200","team":"8743de0e-ac0c-4839-b14f-9d1122bac923","time":"2026-09-21T10:00:00Z"}','3823ca5bbf29eb3709d35c8b8a3758f20aa00132367094a2f84439b99a66a443');
INSERT INTO "audit" VALUES(8,'ddb6c30b-44cd-41cf-8de7-3685b81233b6',1789984800000,'secret.create','key:c6bb62f9-481f-4286-813a-39b476a28c9f','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91',NULL,'{"action":"secret.create","actor":"key:c6bb62f9-481f-4286-813a-39b476a28c9f","address":"127.0.0.1","credential":"e2b_a6...868e","id":"ddb6c30b-44cd-41cf-8de7-3685b81233b6","request":"POST /secrets","result":"ok","secret":"sec_gt1twk4qqgr7eh41tfdm","sequence":8,"status":"201","team":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","time":"2026-09-21T10:00:00Z"}','c1dceeee376a28bb11ce5890147d7d3a1a84fb676d4385fd179310f261c5f275');
INSERT INTO "audit" VALUES(9,'cefeadb6-a907-420e-8492-8ff3b8bf9d86',1789984800000,'volume.create','key:c6bb62f9-481f-4286-813a-39b476a28c9f','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91',NULL,'{"action":"volume.create","actor":"key:c6bb62f9-481f-4286-813a-39b476a28c9f","address":"127.0.0.1","credential":"e2b_a6...868e","id":"cefeadb6-a907-420e-8492-8ff3b8bf9d86","request":"POST /volumes","result":"ok","sequence":9,"status":"201","team":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","time":"2026-09-21T10:00:00Z","volume":"f22b51c6-2105-4ac4-a3b2-eeba01c1ca9c"}','8063eb3bcea3020f6350b0c098fdb220172bd50299fd8fa1ebb5bbc023208844');
INSERT INTO "audit" VALUES(10,'6df60ba6-14e2-45cb-9c23-6f697f768933',1789984800000,'webhook.create','key:c6bb62f9-481f-4286-813a-39b476a28c9f','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91',NULL,'{"action":"webhook.create","actor":"key:c6bb62f9-481f-4286-813a-39b476a28c9f","address":"127.0.0.1","credential":"e2b_a6...868e","id":"6df60ba6-14e2-45cb-9c23-6f697f768933","request":"POST /events/webhooks","result":"ok","sequence":10,"status":"201","team":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","time":"2026-09-21T10:00:00Z","webhook":"71d5c7ab-455b-4d14-a7b8-4f97c013cdd9"}','460a2e0fef592360260b7a41b0c385ff6c578a8e68938c045e1bf62470f07299');
INSERT INTO "audit" VALUES(11,'4f8345ce-b6aa-4c22-b105-f3a080801904',1789984800000,'sandbox.create','key:c6bb62f9-481f-4286-813a-39b476a28c9f','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','i4gw4nprkvuxc95i094dy','{"action":"sandbox.create","actor":"key:c6bb62f9-481f-4286-813a-39b476a28c9f","address":"127.0.0.1","credential":"e2b_a6...868e","id":"4f8345ce-b6aa-4c22-b105-f3a080801904","request":"POST /v2/sandboxes","result":"ok","sandbox":"i4gw4nprkvuxc95i094dy","sequence":11,"status":"201","team":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","template":"2p8pzeom50dt372pmndo","time":"2026-09-21T10:00:00Z"}','b59f31da701fa1f79b838e4715b916f0a101ce9ea551e484cda3224a4f4580f7');
INSERT INTO "audit" VALUES(12,'73eadc66-e9ee-4d11-bb44-8795fcd86696',1789984800000,'sandbox.create','key:c6bb62f9-481f-4286-813a-39b476a28c9f','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','iw67qj5qevjj0upxxkaix','{"action":"sandbox.create","actor":"key:c6bb62f9-481f-4286-813a-39b476a28c9f","address":"127.0.0.1","credential":"e2b_a6...868e","id":"73eadc66-e9ee-4d11-bb44-8795fcd86696","request":"POST /v2/sandboxes","result":"ok","sandbox":"iw67qj5qevjj0upxxkaix","sequence":12,"status":"201","team":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","template":"2p8pzeom50dt372pmndo","time":"2026-09-21T10:00:00Z"}','f29f3c12ef8e526009a9745740c368c2e4e8560dacecd790e72d6acfbee86b11');
INSERT INTO "audit" VALUES(13,'f0113909-bf62-49ec-a64d-f625f2abf7f7',1789984800000,'sandbox.pause','key:c6bb62f9-481f-4286-813a-39b476a28c9f','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','iw67qj5qevjj0upxxkaix','{"action":"sandbox.pause","actor":"key:c6bb62f9-481f-4286-813a-39b476a28c9f","address":"127.0.0.1","credential":"e2b_a6...868e","id":"f0113909-bf62-49ec-a64d-f625f2abf7f7","request":"POST /sandboxes/{sandboxID}/pause","result":"ok","sandbox":"iw67qj5qevjj0upxxkaix","sequence":13,"status":"204","team":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","time":"2026-09-21T10:00:00Z"}','31d7a2690b46077533ae6a1900fda9dc9f2d1dd14864fd8f47f704d527f7461d');
INSERT INTO "audit" VALUES(14,'7fbfd546-52fa-4768-b170-21a73276a354',1789984800000,'sandbox.create','key:c6bb62f9-481f-4286-813a-39b476a28c9f','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','i6m3ebjutc25eddcqpazs','{"action":"sandbox.create","actor":"key:c6bb62f9-481f-4286-813a-39b476a28c9f","address":"127.0.0.1","credential":"e2b_a6...868e","id":"7fbfd546-52fa-4768-b170-21a73276a354","request":"POST /v2/sandboxes","result":"ok","sandbox":"i6m3ebjutc25eddcqpazs","sequence":14,"status":"201","team":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","template":"2p8pzeom50dt372pmndo","time":"2026-09-21T10:00:00Z"}','92ba41948d7646d51a85fac7ac5e85cc7dcdbdf5b0698858380147c39f76b195');
INSERT INTO "audit" VALUES(15,'d05dcc4c-8f17-45d1-866f-c272c08f0cf5',1789984800000,'sandbox.kill','key:c6bb62f9-481f-4286-813a-39b476a28c9f','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','i6m3ebjutc25eddcqpazs','{"action":"sandbox.kill","actor":"key:c6bb62f9-481f-4286-813a-39b476a28c9f","address":"127.0.0.1","credential":"e2b_a6...868e","id":"d05dcc4c-8f17-45d1-866f-c272c08f0cf5","request":"DELETE /sandboxes/{sandboxID}","result":"ok","sandbox":"i6m3ebjutc25eddcqpazs","sequence":15,"status":"204","team":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","time":"2026-09-21T10:00:00Z"}','a137032ab31617b2036f929ec2204613185e20455916eed36c74310e74cf50b3');
INSERT INTO "audit" VALUES(16,'ed8ee722-c82f-4724-8ba7-f5d682dfecd7',1789984800000,'sandbox.snapshot','key:c6bb62f9-481f-4286-813a-39b476a28c9f','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','i4gw4nprkvuxc95i094dy','{"action":"sandbox.snapshot","actor":"key:c6bb62f9-481f-4286-813a-39b476a28c9f","address":"127.0.0.1","build":"0821dd79-d219-405a-81aa-4a20bd40bec3","credential":"e2b_a6...868e","id":"ed8ee722-c82f-4724-8ba7-f5d682dfecd7","request":"POST /sandboxes/{sandboxID}/snapshots","result":"ok","sandbox":"i4gw4nprkvuxc95i094dy","sequence":16,"status":"201","team":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","template":"jrxdt7gg24erne019ew4","time":"2026-09-21T10:00:00Z"}','be208cafcb0b949b7b419d690192997ef404847bc619496880ca8945b1d52551');
INSERT INTO "audit" VALUES(17,'ba81941a-3cd2-4d4d-8a62-d0487ba6a700',1789984800000,'daemon.stop','daemon',NULL,NULL,'{"action":"daemon.stop","actor":"daemon","id":"ba81941a-3cd2-4d4d-8a62-d0487ba6a700","result":"ok","sequence":17,"time":"2026-09-21T10:00:00Z"}','d4c038f2e395a59e478a4445c6ed1195a0122c407df98bd4035a47384a544fe4');
CREATE TABLE audit_export (
    target   TEXT PRIMARY KEY,
    sequence BIGINT NOT NULL
);
CREATE TABLE audit_head (
    id       BIGINT PRIMARY KEY,
    sequence BIGINT NOT NULL,
    hash     TEXT NOT NULL
);
INSERT INTO "audit_head" VALUES(1,17,'d4c038f2e395a59e478a4445c6ed1195a0122c407df98bd4035a47384a544fe4');
CREATE TABLE audit_removed (
    last_sequence BIGINT PRIMARY KEY,
    entries       BIGINT NOT NULL,
    last_hash     TEXT NOT NULL,
    removed_at    BIGINT NOT NULL
);
CREATE TABLE build (
    id           TEXT PRIMARY KEY,
    template_id  TEXT NOT NULL REFERENCES template (id),
    status       TEXT NOT NULL,
    cpu_count    INTEGER NOT NULL,
    memory_mb    INTEGER NOT NULL,
    disk_size_mb INTEGER NOT NULL,
    origin       TEXT NOT NULL,
    snapshot     TEXT,
    sandbox_id   TEXT,
    start        TEXT,
    wanted_tags  TEXT NOT NULL,
    failure      TEXT,
    plan         TEXT,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    finished_at  BIGINT
, volumes TEXT);
INSERT INTO "build" VALUES('2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd','2p8pzeom50dt372pmndo','READY',2,512,10240,'{"layers":["layer1","layer0"],"defaultUser":"user","defaultWorkdir":null}',NULL,NULL,NULL,'[]',NULL,NULL,1789984800000,1789984800000,1789984800000,NULL);
INSERT INTO "build" VALUES('0821dd79-d219-405a-81aa-4a20bd40bec3','jrxdt7gg24erne019ew4','READY',2,512,10240,'{"layers":["layer1","layer0"],"defaultUser":"user","defaultWorkdir":null}','syvrwq94oox2qik8zjh3','i4gw4nprkvuxc95i094dy',NULL,'[]',NULL,NULL,1789984800000,1789984800000,1789984800000,NULL);
CREATE TABLE build_tag (
    template_id TEXT NOT NULL REFERENCES template (id),
    tag         TEXT NOT NULL,
    build_id    TEXT NOT NULL,
    assigned_at BIGINT NOT NULL,
    PRIMARY KEY (template_id, tag)
);
INSERT INTO "build_tag" VALUES('2p8pzeom50dt372pmndo','default','2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd',1789984800000);
INSERT INTO "build_tag" VALUES('jrxdt7gg24erne019ew4','default','0821dd79-d219-405a-81aa-4a20bd40bec3',1789984800000);
CREATE TABLE event (
    sequence     INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    type         TEXT NOT NULL,
    team_id      TEXT NOT NULL,
    sandbox_id   TEXT NOT NULL,
    template_id  TEXT NOT NULL,
    build_id     TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    data         TEXT NOT NULL,
    happened_at  BIGINT NOT NULL
);
INSERT INTO "event" VALUES(1,'5265c9c3-951b-43bb-94ba-96bad75785bb','CREATED','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','i4gw4nprkvuxc95i094dy','2p8pzeom50dt372pmndo','2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd','0e71e8f2-456b-4925-9ee3-65e06b24f183','{"sandbox_metadata":{"who":"older"}}',1789984800000);
INSERT INTO "event" VALUES(2,'db74f10d-c64e-4a57-a10c-0395a46a8fd2','CREATED','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','iw67qj5qevjj0upxxkaix','2p8pzeom50dt372pmndo','2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd','f6572645-4b2d-4fc2-bec2-559cd0874cd1','{}',1789984800000);
INSERT INTO "event" VALUES(3,'f341af78-37ce-47db-adf6-dc20cd92f70b','PAUSED','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','iw67qj5qevjj0upxxkaix','2p8pzeom50dt372pmndo','2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd','f6572645-4b2d-4fc2-bec2-559cd0874cd1','{"execution":{"execution_time":0,"memory_mb":512,"started_at":"2026-09-21T10:00:00Z","vcpu_count":2},"memory":true}',1789984800000);
INSERT INTO "event" VALUES(4,'dc931849-0ca8-4b78-adae-51ed70311df9','CREATED','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','i6m3ebjutc25eddcqpazs','2p8pzeom50dt372pmndo','2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd','9567588f-f5da-4945-861c-3fe1d180099b','{}',1789984800000);
INSERT INTO "event" VALUES(5,'47a80ea3-7a32-4be9-a156-c90b722a8ec2','KILLED','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','i6m3ebjutc25eddcqpazs','2p8pzeom50dt372pmndo','2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd','9567588f-f5da-4945-861c-3fe1d180099b','{"execution":{"execution_time":0,"memory_mb":512,"started_at":"2026-09-21T10:00:00Z","vcpu_count":2},"kill_reason":"request"}',1789984800000);
INSERT INTO "event" VALUES(6,'e517b0e0-54e6-4e5b-8454-dcf15d7fec92','CHECKPOINTED','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','i4gw4nprkvuxc95i094dy','2p8pzeom50dt372pmndo','2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd','0e71e8f2-456b-4925-9ee3-65e06b24f183','{"sandbox_metadata":{"who":"older"}}',1789984800000);
CREATE TABLE "flyway_schema_history" (
    "installed_rank" INT NOT NULL PRIMARY KEY,
    "version" VARCHAR(50),
    "description" VARCHAR(200) NOT NULL,
    "type" VARCHAR(20) NOT NULL,
    "script" VARCHAR(1000) NOT NULL,
    "checksum" INT,
    "installed_by" VARCHAR(100) NOT NULL,
    "installed_on" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f','now')),
    "execution_time" INT NOT NULL,
    "success" BOOLEAN NOT NULL
);
INSERT INTO "flyway_schema_history" VALUES(1,'1','first house','SQL','V1__first_house.sql',514745026,'','2026-11-19 01:55:04.666',137,1);
INSERT INTO "flyway_schema_history" VALUES(2,'2','pause','SQL','V2__pause.sql',-802596126,'','2026-11-19 01:55:04.952',2,1);
INSERT INTO "flyway_schema_history" VALUES(3,'4','sizes','SQL','V4__sizes.sql',-388707397,'','2026-11-19 01:55:05.294',1,1);
INSERT INTO "flyway_schema_history" VALUES(4,'5','builds','SQL','V5__builds.sql',1749833152,'','2026-11-19 01:55:05.518',152,1);
INSERT INTO "flyway_schema_history" VALUES(5,'7','webhooks','SQL','V7__webhooks.sql',-2026174204,'','2026-11-19 01:55:05.774',80,1);
INSERT INTO "flyway_schema_history" VALUES(6,'9','keys','SQL','V9__keys.sql',41298746,'','2026-11-19 01:55:05.862',66,1);
INSERT INTO "flyway_schema_history" VALUES(7,'10','people','SQL','V10__people.sql',1822111739,'','2026-11-19 01:55:06.041',54,1);
INSERT INTO "flyway_schema_history" VALUES(8,'12','audit','SQL','V12__audit.sql',-1274706603,'','2026-11-19 01:55:06.162',12,1);
INSERT INTO "flyway_schema_history" VALUES(9,'14','limits','SQL','V14__limits.sql',-1222846909,'','2026-11-19 01:55:06.243',43,1);
INSERT INTO "flyway_schema_history" VALUES(10,'15','tokens','SQL','V15__tokens.sql',-1291656699,'','2026-11-19 01:55:06.847',484,1);
INSERT INTO "flyway_schema_history" VALUES(11,'16','networks','SQL','V16__networks.sql',1456373632,'','2026-11-19 01:55:06.857',1,1);
INSERT INTO "flyway_schema_history" VALUES(12,'17','volumes','SQL','V17__volumes.sql',-1054300871,'','2026-11-19 01:55:06.933',42,1);
INSERT INTO "flyway_schema_history" VALUES(13,'18','secrets','SQL','V18__secrets.sql',1554055644,'','2026-11-19 01:55:07.053',29,1);
CREATE TABLE member (
    person_id  TEXT NOT NULL REFERENCES person (id),
    team_id    TEXT NOT NULL REFERENCES team (id),
    scope      TEXT NOT NULL,
    added_at   BIGINT NOT NULL,
    removed_at BIGINT,
    PRIMARY KEY (person_id, team_id)
);
INSERT INTO "member" VALUES('66ae24e0-70c6-4a5d-9d55-1cc4755a1599','8743de0e-ac0c-4839-b14f-9d1122bac923','all',1789984800000,NULL);
CREATE TABLE person (
    id         TEXT PRIMARY KEY,
    email      TEXT NOT NULL UNIQUE,
    account    TEXT,
    created_at BIGINT NOT NULL,
    removed_at BIGINT
);
INSERT INTO "person" VALUES('66ae24e0-70c6-4a5d-9d55-1cc4755a1599','a@example.com',NULL,1789984800000,NULL);
CREATE TABLE sandbox (
    id              TEXT PRIMARY KEY,
    team_id         TEXT NOT NULL REFERENCES team (id),
    template_id     TEXT NOT NULL,
    build_id        TEXT NOT NULL,
    alias           TEXT,
    execution_id    TEXT NOT NULL,
    state           TEXT NOT NULL,
    version         BIGINT NOT NULL,
    secure          INTEGER NOT NULL,
    cpu_count       INTEGER NOT NULL,
    memory_mb       INTEGER NOT NULL,
    disk_size_mb    INTEGER NOT NULL,
    metadata        TEXT NOT NULL,
    network         TEXT NOT NULL,
    started_at      BIGINT NOT NULL,
    end_at          BIGINT NOT NULL,
    killed_at       BIGINT,
    idempotency_key TEXT,
    request_hash    TEXT
, lifecycle TEXT, origin TEXT, saved TEXT, key_id TEXT, token_version INTEGER NOT NULL DEFAULT 0, volumes TEXT);
INSERT INTO "sandbox" VALUES('i4gw4nprkvuxc95i094dy','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','2p8pzeom50dt372pmndo','2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd','base','0e71e8f2-456b-4925-9ee3-65e06b24f183','RUNNING',2,1,2,512,10240,'{"who":"older"}','{"allowPublicTraffic":true,"maskRequestHost":null,"denyAllOut":true,"allowInternetAccess":null,"httpsPorts":null,"identities":null,"egress":{"allowOut":[],"denyOut":[],"rules":{"api.example.com":{"headers":{"A":"${e2b.secrets.service-key}"},"redirect":null,"fill":null}},"proxy":null,"inspect":false,"observe":false,"narrow":null}}',1789984800000,1790071200000,NULL,NULL,NULL,'{"pause":false,"keepMemory":true,"autoResume":false,"resumeSeconds":86400}','{"layers":["layer1","layer0"],"defaultUser":"user","defaultWorkdir":null}',NULL,'c6bb62f9-481f-4286-813a-39b476a28c9f',0,NULL);
INSERT INTO "sandbox" VALUES('iw67qj5qevjj0upxxkaix','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','2p8pzeom50dt372pmndo','2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd','base','f6572645-4b2d-4fc2-bec2-559cd0874cd1','PAUSED',4,1,2,512,10240,'{}','{"allowPublicTraffic":true,"maskRequestHost":null,"denyAllOut":false,"allowInternetAccess":null,"httpsPorts":null,"identities":null,"egress":{"allowOut":[],"denyOut":[],"rules":{},"proxy":null,"inspect":false,"observe":false,"narrow":null}}',1789984800000,1789984800000,NULL,NULL,NULL,'{"pause":false,"keepMemory":true,"autoResume":false,"resumeSeconds":86400}','{"layers":["layer1","layer0"],"defaultUser":"user","defaultWorkdir":null}','{"memory":true,"loss":null}','c6bb62f9-481f-4286-813a-39b476a28c9f',0,'[{"volume":"f22b51c6-2105-4ac4-a3b2-eeba01c1ca9c","name":"data","path":"/data","readOnly":false}]');
INSERT INTO "sandbox" VALUES('i6m3ebjutc25eddcqpazs','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','2p8pzeom50dt372pmndo','2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd','base','9567588f-f5da-4945-861c-3fe1d180099b','KILLED',3,1,2,512,10240,'{}','{"allowPublicTraffic":true,"maskRequestHost":null,"denyAllOut":false,"allowInternetAccess":null,"httpsPorts":null,"identities":null,"egress":{"allowOut":[],"denyOut":[],"rules":{},"proxy":null,"inspect":false,"observe":false,"narrow":null}}',1789984800000,1789985100000,1789984800000,NULL,NULL,'{"pause":false,"keepMemory":true,"autoResume":false,"resumeSeconds":300}','{"layers":["layer1","layer0"],"defaultUser":"user","defaultWorkdir":null}',NULL,'c6bb62f9-481f-4286-813a-39b476a28c9f',0,NULL);
CREATE TABLE secret (
    id TEXT PRIMARY KEY,
    team_id TEXT NOT NULL REFERENCES team (id),
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    sealed TEXT NOT NULL,
    -- The sealing key; it changes when the value is sealed anew.
    sealed_with TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (team_id, name)
);
INSERT INTO "secret" VALUES('sec_gt1twk4qqgr7eh41tfdm','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','service-key',1,'{"cay.hosts":"api.example.com"}','hYHireFNZBfmpgI03kuKK4P0yAuecqtwAWQqQNDbfvRSUisV','4d8fe7fac461',1789984800000,1789984800000);
CREATE TABLE sign_in (
    id         TEXT PRIMARY KEY,
    person_id  TEXT NOT NULL REFERENCES person (id),
    kind       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE TABLE sign_in_link (
    hash       TEXT PRIMARY KEY,
    person_id  TEXT NOT NULL REFERENCES person (id),
    expires_at BIGINT NOT NULL
);
CREATE TABLE sign_in_secret (
    hash       TEXT PRIMARY KEY,
    sign_in_id TEXT NOT NULL REFERENCES sign_in (id),
    created_at BIGINT NOT NULL,
    used_at    BIGINT
);
CREATE TABLE store_owner (
    id          INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    claimed_at  BIGINT NOT NULL
);
INSERT INTO "store_owner" VALUES(1,'de46c4702f437799006edd0ffc5b526abf7d9117de01e07fa74af84a0ca911e9',1789984800000);
CREATE TABLE team (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    slug       TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
, deleted_at BIGINT, limits TEXT, network TEXT);
INSERT INTO "team" VALUES('8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','default','default',1789984800000,NULL,NULL,NULL);
INSERT INTO "team" VALUES('8743de0e-ac0c-4839-b14f-9d1122bac923','Research','research',1789984800000,NULL,'{"sandboxes":5,"vcpus":null,"memoryMB":null,"diskMB":null,"builds":null,"createsPerSecond":null,"apiCallsPer30s":null,"operationsPerMinute":null}','{"allowInternetAccess":null,"wish":{"allowOut":[],"denyOut":["8.8.8.0/24"],"rules":{},"proxy":null,"inspect":false,"observe":false,"narrow":null}}');
CREATE TABLE template (
    id              TEXT PRIMARY KEY,
    team_id         TEXT NOT NULL REFERENCES team (id),
    public          INTEGER NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    last_spawned_at BIGINT,
    spawn_count     BIGINT NOT NULL,
    build_count     INTEGER NOT NULL
);
INSERT INTO "template" VALUES('2p8pzeom50dt372pmndo','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91',1,1789984800000,1789984800000,1789984800000,3,1);
INSERT INTO "template" VALUES('jrxdt7gg24erne019ew4','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91',0,1789984800000,1789984800000,NULL,0,1);
CREATE TABLE template_alias (
    namespace   TEXT NOT NULL,
    alias       TEXT NOT NULL,
    template_id TEXT NOT NULL REFERENCES template (id),
    PRIMARY KEY (namespace, alias)
);
INSERT INTO "template_alias" VALUES('','base','2p8pzeom50dt372pmndo');
INSERT INTO "template_alias" VALUES('default','kept','jrxdt7gg24erne019ew4');
CREATE TABLE volume (
    id         TEXT   NOT NULL PRIMARY KEY,
    team_id    TEXT   NOT NULL REFERENCES team (id),
    name       TEXT   NOT NULL,
    size_mb    BIGINT NOT NULL,
    state      TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);
INSERT INTO "volume" VALUES('f22b51c6-2105-4ac4-a3b2-eeba01c1ca9c','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','data',1024,'READY',1789984800000);
CREATE TABLE webhook (
    id              TEXT PRIMARY KEY,
    team_id         TEXT NOT NULL REFERENCES team (id),
    name            TEXT NOT NULL,
    url             TEXT NOT NULL,
    events          TEXT NOT NULL,
    secret          TEXT NOT NULL,
    enabled         INTEGER NOT NULL,
    created_at      BIGINT NOT NULL,
    failing_since   BIGINT,
    disabled_at     BIGINT,
    disabled_reason TEXT
);
INSERT INTO "webhook" VALUES('71d5c7ab-455b-4d14-a7b8-4f97c013cdd9','8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91','hook','http://127.0.0.1:9/','["sandbox.lifecycle.created"]','GleLl85UeDcuq5crWL+D2bJaXh4T3T4nVP6ZP8hqZDWDfmb/E4RVLBmwQZHCwLD/+eRLUCrCtrB0h0RK',1,1789984800000,1789984800000,NULL,NULL);
CREATE TABLE webhook_attempt (
    id               TEXT PRIMARY KEY,
    webhook_id       TEXT NOT NULL,
    event_id         TEXT NOT NULL,
    started_at       BIGINT NOT NULL,
    duration_ms      BIGINT NOT NULL,
    url              TEXT NOT NULL,
    request_headers  TEXT NOT NULL,
    status           INTEGER,
    response_headers TEXT,
    response_body    TEXT,
    error_class      TEXT,
    error_message    TEXT
);
INSERT INTO "webhook_attempt" VALUES('c0f720f2-5578-463a-9faa-590d1ae488bd','71d5c7ab-455b-4d14-a7b8-4f97c013cdd9','5265c9c3-951b-43bb-94ba-96bad75785bb',1789984800000,159,'http://127.0.0.1:9/','{"Accept-Encoding":"identity","Connection":"close","Content-Type":"application/json","User-Agent":"cay-webhooks","e2b-delivery-id":"c0f720f2-5578-463a-9faa-590d1ae488bd","e2b-signature":"[hidden]","e2b-signature-version":"v1","e2b-webhook-id":"71d5c7ab-455b-4d14-a7b8-4f97c013cdd9"}',NULL,NULL,NULL,'TRANSPORT_ERROR','it takes no connections');
INSERT INTO "webhook_attempt" VALUES('cdebbb31-946b-474a-ba18-67859f8e8558','71d5c7ab-455b-4d14-a7b8-4f97c013cdd9','db74f10d-c64e-4a57-a10c-0395a46a8fd2',1789984800000,105,'http://127.0.0.1:9/','{"Accept-Encoding":"identity","Connection":"close","Content-Type":"application/json","User-Agent":"cay-webhooks","e2b-delivery-id":"cdebbb31-946b-474a-ba18-67859f8e8558","e2b-signature":"[hidden]","e2b-signature-version":"v1","e2b-webhook-id":"71d5c7ab-455b-4d14-a7b8-4f97c013cdd9"}',NULL,NULL,NULL,'TRANSPORT_ERROR','it takes no connections');
INSERT INTO "webhook_attempt" VALUES('935b6d16-75ca-48d0-bc56-0875137d3b1c','71d5c7ab-455b-4d14-a7b8-4f97c013cdd9','dc931849-0ca8-4b78-adae-51ed70311df9',1789984800000,18,'http://127.0.0.1:9/','{"Accept-Encoding":"identity","Connection":"close","Content-Type":"application/json","User-Agent":"cay-webhooks","e2b-delivery-id":"935b6d16-75ca-48d0-bc56-0875137d3b1c","e2b-signature":"[hidden]","e2b-signature-version":"v1","e2b-webhook-id":"71d5c7ab-455b-4d14-a7b8-4f97c013cdd9"}',NULL,NULL,NULL,'TRANSPORT_ERROR','it takes no connections');
CREATE TABLE webhook_message (
    sequence   INTEGER PRIMARY KEY,
    webhook_id TEXT NOT NULL,
    event_id   TEXT NOT NULL,
    event_type TEXT NOT NULL,
    sandbox_id TEXT NOT NULL,
    body       TEXT NOT NULL,
    state      TEXT NOT NULL,
    attempts   INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    first_at   BIGINT,
    next_at    BIGINT NOT NULL,
    hold_until BIGINT,
    UNIQUE (webhook_id, event_id)
);
INSERT INTO "webhook_message" VALUES(1,'71d5c7ab-455b-4d14-a7b8-4f97c013cdd9','5265c9c3-951b-43bb-94ba-96bad75785bb','sandbox.lifecycle.created','i4gw4nprkvuxc95i094dy','{"version":"v2","id":"5265c9c3-951b-43bb-94ba-96bad75785bb","type":"sandbox.lifecycle.created","timestamp":"2026-09-21T10:00:00Z","eventData":{"sandbox_metadata":{"who":"older"}},"event_data":{"sandbox_metadata":{"who":"older"}},"sandboxId":"i4gw4nprkvuxc95i094dy","sandbox_id":"i4gw4nprkvuxc95i094dy","sandboxTeamId":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","sandbox_team_id":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","sandboxTemplateId":"2p8pzeom50dt372pmndo","sandbox_template_id":"2p8pzeom50dt372pmndo","sandboxBuildId":"2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd","sandbox_build_id":"2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd","sandboxExecutionId":"0e71e8f2-456b-4925-9ee3-65e06b24f183","sandbox_execution_id":"0e71e8f2-456b-4925-9ee3-65e06b24f183","eventCategory":"lifecycle","event_category":"lifecycle","eventLabel":"create","event_label":"create"}','OPEN',1,1789984800000,1789984800000,1789984810000,1789988400000);
INSERT INTO "webhook_message" VALUES(2,'71d5c7ab-455b-4d14-a7b8-4f97c013cdd9','db74f10d-c64e-4a57-a10c-0395a46a8fd2','sandbox.lifecycle.created','iw67qj5qevjj0upxxkaix','{"version":"v2","id":"db74f10d-c64e-4a57-a10c-0395a46a8fd2","type":"sandbox.lifecycle.created","timestamp":"2026-09-21T10:00:00Z","eventData":{},"event_data":{},"sandboxId":"iw67qj5qevjj0upxxkaix","sandbox_id":"iw67qj5qevjj0upxxkaix","sandboxTeamId":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","sandbox_team_id":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","sandboxTemplateId":"2p8pzeom50dt372pmndo","sandbox_template_id":"2p8pzeom50dt372pmndo","sandboxBuildId":"2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd","sandbox_build_id":"2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd","sandboxExecutionId":"f6572645-4b2d-4fc2-bec2-559cd0874cd1","sandbox_execution_id":"f6572645-4b2d-4fc2-bec2-559cd0874cd1","eventCategory":"lifecycle","event_category":"lifecycle","eventLabel":"create","event_label":"create"}','OPEN',1,1789984800000,1789984800000,1789984810000,1789988400000);
INSERT INTO "webhook_message" VALUES(3,'71d5c7ab-455b-4d14-a7b8-4f97c013cdd9','dc931849-0ca8-4b78-adae-51ed70311df9','sandbox.lifecycle.created','i6m3ebjutc25eddcqpazs','{"version":"v2","id":"dc931849-0ca8-4b78-adae-51ed70311df9","type":"sandbox.lifecycle.created","timestamp":"2026-09-21T10:00:00Z","eventData":{},"event_data":{},"sandboxId":"i6m3ebjutc25eddcqpazs","sandbox_id":"i6m3ebjutc25eddcqpazs","sandboxTeamId":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","sandbox_team_id":"8b8d1ea6-34f5-4c95-af0e-2b9cf28a0b91","sandboxTemplateId":"2p8pzeom50dt372pmndo","sandbox_template_id":"2p8pzeom50dt372pmndo","sandboxBuildId":"2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd","sandbox_build_id":"2ef1bc36-0ff6-4b19-b7f7-cb4a5cbdbecd","sandboxExecutionId":"9567588f-f5da-4945-861c-3fe1d180099b","sandbox_execution_id":"9567588f-f5da-4945-861c-3fe1d180099b","eventCategory":"lifecycle","event_category":"lifecycle","eventLabel":"create","event_label":"create"}','OPEN',1,1789984800000,1789984800000,1789984810000,1789988400000);
CREATE INDEX "flyway_schema_history_s_idx" ON "flyway_schema_history" ("success");
CREATE INDEX sandbox_state ON sandbox (state);
CREATE UNIQUE INDEX sandbox_idempotency ON sandbox (team_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX event_team ON event (team_id, sequence);
CREATE INDEX event_sandbox ON event (sandbox_id, sequence);
CREATE INDEX event_age ON event (happened_at);
CREATE INDEX sandbox_killed ON sandbox (killed_at);
CREATE INDEX build_template ON build (template_id);
CREATE INDEX webhook_team ON webhook (team_id);
CREATE INDEX webhook_message_line ON webhook_message (webhook_id, sandbox_id, state, sequence);
CREATE INDEX webhook_message_due ON webhook_message (webhook_id, state, next_at);
CREATE INDEX webhook_message_age ON webhook_message (created_at);
CREATE INDEX webhook_attempt_event ON webhook_attempt (webhook_id, event_id, started_at);
CREATE INDEX webhook_attempt_time ON webhook_attempt (webhook_id, started_at);
CREATE INDEX sign_in_person ON sign_in (person_id);
CREATE INDEX sign_in_secret_owner ON sign_in_secret (sign_in_id);
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audit_team ON audit (team_id, sequence);
CREATE INDEX audit_sandbox ON audit (sandbox_id, sequence);
CREATE INDEX audit_action ON audit (action, sequence);
CREATE INDEX sandbox_team ON sandbox (team_id, state);
CREATE INDEX sandbox_key ON sandbox (key_id, state) WHERE key_id IS NOT NULL;
CREATE INDEX secret_sealed_with ON secret (sealed_with);
COMMIT;
