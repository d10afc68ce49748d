-- Version 3: what the group may spend; a call counts from before it is sent, until its cost is in the ledger.
CREATE TABLE behaview.budget (
    service text NOT NULL, period text NOT NULL CHECK (period IN ('day', 'month')), units bigint NOT NULL,
    reserve bigint NOT NULL, PRIMARY KEY (service, period), CHECK (reserve BETWEEN 0 AND units)
);
CREATE TABLE behaview.reservation (
    person text NOT NULL DEFAULT session_user, machine text NOT NULL, number bigint NOT NULL, service text NOT NULL,
    at timestamptz NOT NULL DEFAULT now(), units bigint NOT NULL CHECK (units >= 0),
    PRIMARY KEY (person, machine, number)
);
CREATE INDEX ON behaview.reservation (service, at);
CREATE INDEX ON behaview.call (service, at);
-- The sum of each day (UTC), so that a budget is not a sum over a month of calls. A negative cost is forged.
CREATE TABLE behaview.spent (service text, day date, units numeric NOT NULL, PRIMARY KEY (service, day));
INSERT INTO behaview.spent SELECT service, (to_timestamp(at / 1000.0) AT TIME ZONE 'UTC')::date, sum(charged)
    FROM behaview.call WHERE charged > 0 GROUP BY 1, 2;
ALTER TABLE behaview.call ADD project text NOT NULL DEFAULT '';

-- Everyone may see what the group has left, without what each person spent.
CREATE FUNCTION behaview.budgets(of_service text)
RETURNS TABLE (period text, units bigint, reserve bigint, spent bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT b.period, b.units, b.reserve, least(9223372036854775807,
        (SELECT coalesce(sum(s.units), 0) FROM behaview.spent s WHERE s.service = b.service AND s.day >= began)
        + (SELECT coalesce(sum(r.units), 0) FROM behaview.reservation r
            WHERE r.service = b.service AND r.at >= began AT TIME ZONE 'UTC')
    )::bigint
    FROM behaview.budget b
    CROSS JOIN LATERAL (SELECT date_trunc(b.period, now() AT TIME ZONE 'UTC')) AS t(began)
    WHERE b.service = of_service ORDER BY b.period
$$;
-- Counts a call, or returns the budgets that do not allow it.
CREATE FUNCTION behaview.reserve(of_service text, of_machine text, of_number bigint, worst bigint, is_incident boolean)
RETURNS TABLE (period text, units bigint, reserve bigint, spent bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
#variable_conflict use_column
BEGIN
    -- Others who count a call wait here, so that no two take the same last unit.
    PERFORM 1 FROM behaview.budget b WHERE b.service = of_service ORDER BY b.period FOR UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    RETURN QUERY SELECT * FROM behaview.budgets(of_service) b WHERE worst IS NULL
        OR b.spent::numeric + worst > b.units - CASE WHEN is_incident THEN 0 ELSE b.reserve END;
    IF NOT FOUND THEN
        -- One of a client that was killed counts until its ledger is read again, or the period ends.
        DELETE FROM behaview.reservation WHERE service = of_service AND at < now() - interval '40 days';
        INSERT INTO behaview.reservation (machine, number, service, units)
            VALUES (of_machine, of_number, of_service, worst)
            ON CONFLICT (person, machine, number) DO UPDATE SET units = excluded.units, at = excluded.at;
    END IF;
END $$;
CREATE FUNCTION behaview.settle() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE further bigint := greatest(NEW.charged, 0);
BEGIN
    IF TG_OP = 'UPDATE' THEN further := further - greatest(OLD.charged, 0); END IF;
    IF further <> 0 THEN
        INSERT INTO behaview.spent AS s VALUES
            (NEW.service, (to_timestamp(NEW.at / 1000.0) AT TIME ZONE 'UTC')::date, further)
            ON CONFLICT (service, day) DO UPDATE SET units = s.units + excluded.units;
    END IF;
    DELETE FROM behaview.reservation r WHERE r.person = NEW.person AND r.machine = NEW.machine AND r.number = NEW.number;
    RETURN NULL;
END $$;
CREATE TRIGGER settle AFTER INSERT OR UPDATE ON behaview.call FOR EACH ROW EXECUTE FUNCTION behaview.settle();

REVOKE ALL ON FUNCTION behaview.budgets, behaview.reserve, behaview.settle FROM PUBLIC;
GRANT EXECUTE ON FUNCTION behaview.budgets, behaview.reserve TO behaview_reader;
GRANT SELECT ON behaview.budget TO behaview_reader;
GRANT INSERT, UPDATE (units, reserve), DELETE ON behaview.budget TO behaview_lead;
GRANT INSERT (project) ON behaview.call TO behaview_analyst;
INSERT INTO behaview.version (version, oldest_client) VALUES (3, 1);
